"""The processes that answer: started once, idle until it is their turn."""
import contextlib
import pathlib
import re
import subprocess
import time


class Contender:
    """A server process and where it listens."""

    def __init__(self, command, log):
        self.log = log
        with open(log, 'w') as out:
            self.started = time.monotonic()
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        while not (ready := re.search(r'ready listen=(\S+)', pathlib.Path(log).read_text())):
            if self.process.poll() is not None or time.monotonic() - self.started > 30:
                self.stop()
                raise RuntimeError(f'{command[0]} did not become ready:\n{pathlib.Path(log).read_text()}')
            time.sleep(0.01)
        self.targets = {'unix' if a.startswith('unix:') else 'tcp': a for a in ready[1].split(',')}

    @property
    def pid(self):
        return self.process.pid

    def target(self, transport):
        return self.targets['unix' if transport == 'unix' else 'tcp']

    def last_words(self):
        return pathlib.Path(self.log).read_text().strip().rpartition('\n')[2]

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def make_certificate(directory):
    """A certificate for localhost that signs itself: (certificate, key) as PEM files."""
    certificate, key = directory / 'certificate.pem', directory / 'key.pem'
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1',
                    '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext',
                    'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', certificate],
                   check=True, capture_output=True)
    return certificate, key


@contextlib.contextmanager
def contenders(build, directory):
    """All of them by (subject, whether TLS); stopped at the end."""
    here = build / 'tests/benchmark'
    # The transport's memory is sized by them.
    limits = ['--max-message-bytes', '300MiB', '--max-inflight-bytes', '4GiB']
    product = [build / 'server/trelu-server', '--admin-listen', 'none', '--drain-delay', '0s', *limits,
               '--shared-memory-prefix', '/']
    certificate, key = make_certificate(directory)
    tls = ['--tls-cert', certificate, '--tls-key', key]

    def listen(name):
        return ['--listen', '127.0.0.1:0', '--listen', f'unix:{directory}/{name}.sock']

    commands = {
        ('trelu', False): product + listen('trelu'),
        ('trelu busy', False): product + listen('busy') + ['--busy-poll', '100us'],
        ('trelu', True): product + listen('trelu-tls') + tls,
        ('echo', False): [here / 'grpc_echo', *limits, *listen('echo')],
        ('echo', True): [here / 'grpc_echo', *limits, *listen('echo-tls'), *tls],
        ('callback', False): [here / 'callback_server', *listen('callback')],
        ('socket', False): [here / 'socket_echo', directory / 'socket.sock'],
    }
    running = {}
    try:
        for (subject, is_tls), command in commands.items():
            log = directory / f'{subject}{"-tls" if is_tls else ""}.log'
            running[subject, is_tls] = Contender([str(part) for part in command], log)
        yield running
    finally:
        for contender in running.values():
            contender.stop()
