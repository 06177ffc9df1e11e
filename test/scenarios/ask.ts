import type { JsonValue } from '#base/json.ts';
import type { Method, Transport } from '#kubernetes/transport/transport.ts';
import type { Answer } from './env.ts';

/** Sends one request with a JSON body over `transport`; a PATCH is a JSON merge unless its headers say otherwise. */
export async function ask(
  transport: Transport,
  request: {
    readonly method: Method;
    readonly path: string;
    readonly rest: readonly [body?: JsonValue, headers?: Readonly<Record<string, string>>];
  },
): Promise<Answer> {
  const { method, path, rest } = request;
  const [body, headers = {}] = rest;
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const response = await transport.request({
    method,
    path,
    headers: { 'content-type': type, accept: 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = Buffer.from(response.body).toString();
  const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
  const parsed = isJson ? (JSON.parse(text) as JsonValue) : text;
  return { status: response.status, headers: response.headers, body: parsed };
}
