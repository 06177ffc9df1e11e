import type { JsonObject } from '#base/json.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { type PostConnection, reviewBytes } from './post-connection.ts';

const objectBytes = 8_000;
const target = '/admission/no-downscale?timeout=10s';

/** What is posted, and what must be answered. */
export interface Review {
  readonly post: Buffer;
  readonly want: string;
}

/** Returns a review that changes a set of 8 KB and asks nothing, and its answer; `bytes`: its size. */
export function reviewOfSet(): { readonly review: Review; readonly bytes: number } {
  const set = (replicas: number, image: string): JsonObject => {
    const plain = (padding: string): JsonObject => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: {
        name: 'ingester-zone-a',
        namespace: 'bench',
        labels: { 'grafana.com/no-downscale': 'true', 'rollout-group': 'ingester' },
      },
      spec: {
        replicas,
        template: {
          spec: {
            containers: Array.from({ length: 20 }, (_, index) => ({
              name: `container-${index}`,
              image,
              args: [`-option-${index}=${padding}`, '-target=ingester'],
              ports: [{ containerPort: 8080 + index, name: 'http', protocol: 'TCP' }],
            })),
          },
        },
      },
    });
    const bare = JSON.stringify(plain('')).length;
    return plain('x'.repeat(Math.max(0, Math.floor((objectBytes - bare) / 20))));
  };
  const uid = '705ab4f5-6393-11e8-b7cc-42010a800002';
  const document = reviewDocument({
    uid,
    namespace: 'bench',
    userInfo: { username: 'admin', groups: ['system:masters'] },
    object: set(3, 'store:2'),
    oldObject: set(3, 'store:1'),
    options: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' },
  });
  const body = JSON.stringify(document);
  const want = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"${uid}","allowed":true}}`;
  return { review: { post: reviewBytes(target, body), want }, bytes: body.length };
}

/**
 * Posts `review` `count` times, as fast as it is answered. This process never sleeps meanwhile: to wake it would be a part
 * of each answer of a server that lets it sleep, and of none of a server that is faster than it.
 *
 * @throws at an answer that is not the one wanted
 */
export async function flood(
  open: readonly PostConnection[],
  count: number,
  { post, want }: Review,
): Promise<void> {
  let left = count;
  const stayAwake = (): void => {
    if (left > 0) setImmediate(stayAwake);
  };
  stayAwake();
  await Promise.all(
    open.map(async (connection) => {
      while (left > 0) {
        left -= 1;
        const { body } = await connection.post(post);
        if (body !== want) throw new Error(`The webhook answered ${body}`);
      }
    }),
  );
}
