"""The native API from Python with grpcio alone, as most users first do: calls of one message, one after the
other. Messages go as bytes, so that this measures gRPC and not protobuf's encoder.

    python_client.py TARGET BYTES SECONDS SERVER_PID
"""
import json
import os
import statistics
import struct
import sys
import time

import grpc


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat') as file:
        fields = file.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def main():
    target, size, seconds, pid = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    values = [0.5, 1.5, -2.0, 3.0]
    payload = struct.pack('<4f', *values) * (size // 16)
    expected = struct.pack('<4f', *(v if v > 1 else 0 for v in values)) * (size // 16)
    shape = varint(size // 4)
    tensor = b'\x08\x01\x12' + varint(len(shape)) + shape           # dtype FLOAT, shape, packed
    request = b'\x0a' + varint(len(tensor)) + tensor + b'\x7a' + varint(size) + payload
    unlimited = [('grpc.max_receive_message_length', -1), ('grpc.max_send_message_length', -1)]
    with grpc.insecure_channel(target, unlimited) as channel:
        apply = channel.unary_unary('/trelu.v1.ThresholdedRelu/Apply')
        begun = time.monotonic()
        while time.monotonic() - begun < 0.15:
            if not apply(request).endswith(expected):
                sys.exit('a wrong answer')
        latencies = []
        begun, cpu = time.perf_counter(), cpu_seconds(pid)
        while (now := time.perf_counter()) - begun < seconds or len(latencies) < 6:
            apply(request)
            latencies.append(time.perf_counter() - now)
        elapsed, cpu = time.perf_counter() - begun, cpu_seconds(pid) - cpu
    count = len(latencies)
    print(json.dumps({'requests': count, 'bytes': size, 'seconds': elapsed,
                      'requests_per_second': count / elapsed, 'gb_per_second': count * size / elapsed / 1e9,
                      'p50_us': statistics.median(latencies) * 1e6,
                      'p99_us': sorted(latencies)[int(0.99 * (count - 1))] * 1e6,
                      'server_cpu_us_per_request': cpu / count * 1e6}))


if __name__ == '__main__':
    main()
