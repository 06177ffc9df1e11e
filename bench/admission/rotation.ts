import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { type ServingOperator, WebhookStage } from '../../test/integration/stages/webhook-stage.ts';
import type { Bench } from '../bench.ts';
import { bounded, type Findings, type Size, told } from '../figures.ts';
import { PostConnection, reviewBytes } from './post-connection.ts';

interface Load {
  readonly reviews: number;
  /** Life of a certificate, in seconds. */
  readonly life: number;
}

const loads: Readonly<Record<Size, Load>> = {
  full: { reviews: 10_000, life: 15 },
  tiny: { reviews: 100, life: 12 },
};

const replicas = 2;
/** Reviews at once, for each replica. */
const clients = 4;

/** What the API server would see while the certificate is renewed. */
export const rotation: Bench = {
  about: 'two replicas that renew their certificate: reviews that fail, each over a new connection',
  run: async (size) => {
    const stage = await WebhookStage.open();
    try {
      return [await measure(stage, size)];
    } finally {
      await stage.close();
    }
  },
};

async function measure(stage: WebhookStage, size: Size): Promise<Findings> {
  const { reviews, life } = loads[size];
  const flags = [`-server-tls.self-signed-cert.expiration=${life}s`, '-log.level=info'];
  const operators = await Promise.all(
    Array.from({ length: replicas }, () => stage.operator(flags)),
  );
  const trust = { ca: '' };
  stage.cluster.eventLog.onCommit(({ resource, after }) => {
    if (!resource.startsWith('validatingwebhookconfigurations')) return;
    const bundle = textAt(objectsAt(after, 'webhooks')[0], 'clientConfig', 'caBundle');
    trust.ca = Buffer.from(bundle, 'base64').toString();
  });
  await stage.configure(operators[0]?.port ?? 0);
  const changes = (): number[] => operators.map(certificates);
  const count = { made: 0, failed: [] as string[] };
  const isOver = (): boolean => count.made >= reviews && changes().every((changed) => changed >= 1);
  await Promise.all(
    operators.flatMap((operator) =>
      Array.from({ length: clients }, async () => {
        while (!isOver()) {
          await reviewOnce(operator, trust.ca).catch((error: unknown) => {
            const when = new Date().toISOString();
            count.failed.push(`${when} port ${operator.port}: ${String(error)}`);
          });
          count.made += 1;
        }
      }),
    ),
  );
  const [first = ''] = count.failed;
  if (first !== '') tell(count.failed, operators);
  return {
    bench: 'rotation',
    setting: `${replicas} operators as processes of their own, certificates that live ${life} s, each review over a new TLS connection verified by the CA bundle that the configuration has then`,
    figures: [
      bounded(
        'reviews failed during rotations',
        { value: count.failed.length, how: `of ${count.made} reviews${first && `; ${first}`}` },
        size,
      ),
      told('certificates taken into use', {
        value: changes().reduce((sum, changed) => sum + changed, 0),
        unit: '',
        how: 'after the first one, by all replicas, as their logs say',
      }),
    ],
  };
}

/** What one needs to find out why reviews failed. */
function tell(failed: readonly string[], operators: readonly ServingOperator[]): void {
  const logs = operators.flatMap(({ port, process: { lines } }) => [`port ${port}:`, ...lines]);
  process.stderr.write(`${[...failed, ...logs].join('\n')}\n`);
}

/** How often `operator` took another certificate into use. */
function certificates({ process }: ServingOperator): number {
  return process.lines.filter((line) => line.includes('msg="webhook certificate changed"')).length;
}

const workload = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'ingester' } };
const review = reviewDocument({
  uid: 'rotation',
  name: 'ingester',
  object: workload,
  oldObject: workload,
});
const post = reviewBytes('/admission/no-downscale?timeout=10s', JSON.stringify(review));
const want =
  '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"rotation","allowed":true}}';

/** @throws {Error} when the connection, the certificate or the answer is not what it should be */
async function reviewOnce({ port }: ServingOperator, ca: string): Promise<void> {
  const server = { port, ca, name: 'rollout-operator.test.svc' };
  const connection = await PostConnection.overTls(server);
  try {
    const { body } = await connection.post(post);
    if (body !== want) throw new Error(`The webhook answered ${body}`);
  } finally {
    connection.close();
  }
}
