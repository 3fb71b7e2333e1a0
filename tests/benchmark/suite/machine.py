"""Where and when it was measured."""
import datetime
import os
import pathlib
import re
import subprocess


def describe():
    cpu = re.search(r'model name\s*: (.*)', pathlib.Path('/proc/cpuinfo').read_text())
    packages = subprocess.run(['dpkg-query', '-W', '-f', '${Package} ${Version}\n', 'libgrpc++1.51',
                               'libprotobuf32', 'g++'], capture_output=True, text=True, check=False)
    commit = subprocess.run(['git', 'describe', '--always', '--dirty'], capture_output=True, text=True,
                            check=False)
    return {'date': datetime.date.today().isoformat(), 'processor': cpu[1] if cpu else 'unknown',
            'processors': len(os.sched_getaffinity(0)), 'kernel': os.uname().release,
            'load_before': os.getloadavg()[0], 'packages': packages.stdout.split('\n')[:-1],
            'commit': commit.stdout.strip()}
