import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { seconds } from '#base/units.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { type ServingOperator, WebhookStage } from '../../test/integration/stages/webhook-stage.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { bundledEnvironment, withBundle } from '../operator/bundle.ts';
import { shippedNodeFlags } from '../operator/node-flags.ts';
import { usageOf } from '../operator/process-usage.ts';
import { type HostileInput, hostileInputs } from './hostile-inputs.ts';
import { PostConnection, type ReviewServer, reviewBytes } from './post-connection.ts';

/** What one input did. */
interface Harm {
  /** The most that was resident, in MiB. */
  readonly memory: number;
  /** The longest time for which an honest review waited, in ms. */
  readonly stall: number;
}

const rounds: Readonly<Record<Size, number>> = { full: 3, tiny: 1 };
/** Between two honest reviews, in ms. */
const probing = 10;
const mebibyte = 2 ** 20;

const honest = reviewBytes('/admission/no-downscale?timeout=10s', JSON.stringify(reviewDocument()));

/** Posts every hostile input to the operator, again and again, and measures what that costs all others. */
export function measureHostile(size: Size): Promise<Findings> {
  return withBundle((program) => measureHostileTo(program, size));
}

async function measureHostileTo(program: string, size: Size): Promise<Findings> {
  const stage = await WebhookStage.open();
  try {
    const { url, token } = stage.access;
    const env = { ...shippedEnvironment(), BENCH_API_URL: url, BENCH_API_TOKEN: token };
    const operator = await stage.operator(['-log.level=debug'], env, program);
    await stage.configure(operator.port);
    const server = {
      port: operator.port,
      ca: await stage.bundle(),
      name: 'rollout-operator.test.svc',
    };
    // Scales read their set, which takes 2 s here: what they posted waits for so long.
    stage.cluster.faults.add({
      match: { verb: 'get', resource: 'statefulsets' },
      action: { kind: 'delay', delay: seconds(2) },
    });
    const inputs = hostileInputs(size);
    const harms = inputs.map((): Harm[] => []);
    for (let round = 0; round < rounds[size]; round += 1) {
      for (const [at, input] of inputs.entries())
        harms[at]?.push(await harmOf(input, operator, server));
    }
    return findingsOf(inputs, harms, size);
  } finally {
    await stage.close();
  }
}

/** As an image starts the program. */
function shippedEnvironment(): Readonly<Record<string, string>> {
  const { NODE_OPTIONS, ...shipped } = bundledEnvironment;
  const flags = [...shippedNodeFlags(), NODE_OPTIONS].join(' ');
  return { ...shipped, NODE_OPTIONS: flags };
}

async function harmOf(
  { post, count }: HostileInput,
  { process }: ServingOperator,
  server: ReviewServer,
): Promise<Harm> {
  // Lets the kernel begin again with the most that was resident.
  writeFileSync(`/proc/${process.pid}/clear_refs`, '5');
  const open = await Promise.all(
    Array.from({ length: count }, () => PostConnection.overTls(server)),
  );
  const probe = new Probe(await PostConnection.overTls(server));
  const probed = probe.run();
  await Promise.all(open.map((connection) => postOnce(connection, post)));
  probe.stop();
  const stall = await probed;
  return { memory: (usageOf(process.pid).peakRss * 1e6) / mebibyte, stall };
}

/** Whatever comes back, or an end of the connection, is an answer to a stranger. */
async function postOnce(connection: PostConnection, post: Buffer): Promise<void> {
  await connection.post(post).catch(() => undefined);
  connection.close();
}

/** Honest reviews, one after the other, of a user who measures how long each waits. */
class Probe {
  readonly #connection: PostConnection;
  #isOver = false;

  constructor(connection: PostConnection) {
    this.#connection = connection;
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Posts until it is stopped. @returns the longest wait, in ms */
  async run(): Promise<number> {
    let longest = 0;
    do {
      const start = performance.now();
      const { status } = await this.#connection.post(honest);
      if (status !== 200) throw new Error(`An honest review was answered ${status}`);
      longest = Math.max(longest, performance.now() - start);
      await sleep(probing);
    } while (!this.#isOver);
    this.#connection.close();
    return longest;
  }
}

function findingsOf(
  inputs: readonly HostileInput[],
  harms: readonly (readonly Harm[])[],
  size: Size,
): Findings {
  const medians = inputs.map(({ name }, at) => {
    const of = harms[at] ?? [];
    const median = (values: readonly number[]): number => percentile(values, 0.5);
    const memory = median(of.map((harm) => harm.memory));
    const stall = median(of.map((harm) => harm.stall));
    return { name, memory, stall };
  });
  const worst = (of: 'memory' | 'stall'): { readonly value: number; readonly how: string } => {
    const [first] = medians.toSorted((a, b) => b[of] - a[of]);
    return { value: first?.[of] ?? Number.NaN, how: `under "${first?.name}"` };
  };
  const each: readonly Figure[] = medians.flatMap(({ name, memory, stall }) => [
    told(`peak memory under ${name}`, { value: memory, unit: 'MiB', how: 'VmHWM of /proc' }),
    told(`longest wait of others under ${name}`, {
      value: stall,
      unit: 'ms',
      how: 'by a review each 10 ms',
    }),
  ]);
  return {
    bench: 'admission',
    setting: `the operator program as its image starts it, with webhooks on; ${inputs.length} hostile inputs one after the other, ${rounds[size]} times, medians`,
    figures: [
      bounded('peak memory under hostile reviews', worst('memory'), size),
      bounded('longest wait of an honest review', worst('stall'), size),
      ...each,
    ],
  };
}
