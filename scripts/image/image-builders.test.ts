import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  builders,
  type Command,
  type Ended,
  findBuilder,
  type ImageBuild,
} from './image-builders.ts';

const absent: Ended = {
  status: null,
  stderr: '',
  error: Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' }),
};
const works: Ended = { status: 0, stderr: '' };
const noDaemon: Ended = {
  status: 1,
  stderr: 'Client: 28\nCannot connect to the Docker daemon at unix:///var/run/docker.sock.\n',
};

/** A machine on which each program ends as is said, and others are absent. */
function machine(ends: Readonly<Record<string, Ended>>): (command: Command) => Ended {
  return ([program]) => ends[program] ?? absent;
}

describe('findBuilder()', () => {
  const found: Record<string, { ends: Record<string, Ended>; wanted?: string; want: string }> = {
    'takes docker where its daemon answers': {
      ends: { docker: works, podman: works, buildah: works },
      want: 'docker',
    },
    'passes over a docker without a daemon': {
      ends: { docker: noDaemon, podman: works },
      want: 'podman',
    },
    'takes buildah where nothing else is': { ends: { buildah: works }, want: 'buildah' },
    'takes the one that is named': {
      ends: { docker: works, buildah: works },
      wanted: 'buildah',
      want: 'buildah',
    },
  };
  for (const [fact, { ends, wanted, want }] of Object.entries(found)) {
    test(fact, () => {
      assert.equal(findBuilder(wanted, machine(ends)).name, want);
    });
  }

  const refused: Record<string, { ends: Record<string, Ended>; wanted?: string; want: string }> = {
    'says of each why it cannot build': {
      ends: { docker: noDaemon, buildah: { status: 125, stderr: '' } },
      want: [
        'Cannot build an image as none of docker, podman and buildah works here:',
        '  docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.',
        '  podman: is not installed',
        '  buildah: ended with 125',
        'Start one of them, or install buildah, which needs no daemon ("apt-get install buildah" on Debian)',
      ].join('\n'),
    },
    'says why the one that is named cannot, and takes no other': {
      ends: { docker: noDaemon, buildah: works },
      wanted: 'docker',
      want: [
        'Cannot build an image as docker does not work here:',
        '  docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.',
        'Start one of them, or install buildah, which needs no daemon ("apt-get install buildah" on Debian)',
      ].join('\n'),
    },
    'knows no other builder': {
      ends: {},
      wanted: 'kaniko',
      want: '--builder must be one of docker, podman, buildah: got "kaniko"',
    },
  };
  for (const [fact, { ends, wanted, want }] of Object.entries(refused)) {
    test(fact, () => {
      assert.throws(() => findBuilder(wanted, machine(ends)), { message: want });
    });
  }
});

describe('each builder', () => {
  const image: ImageBuild = {
    context: '/clone',
    dockerfile: '/clone/Dockerfile',
    tag: 'x:1',
    arguments: { VERSION: '1' },
    epoch: 7,
    npmrc: '/home/me/.npmrc',
  };
  for (const builder of builders) {
    test(`${builder.name} is told all that an image is made of`, () => {
      const command = builder.build(image);
      assert.equal(command[0], builder.name);
      assert.equal(command.at(-1), '/clone');
      for (const wanted of [
        '--file=/clone/Dockerfile',
        '--tag=x:1',
        '--build-arg=VERSION=1',
        '--build-arg=SOURCE_DATE_EPOCH=7',
        '--secret=id=npmrc,src=/home/me/.npmrc',
      ])
        assert.ok(command.includes(wanted), wanted);
    });
  }
});
