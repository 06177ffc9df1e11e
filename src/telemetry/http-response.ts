/** An answer whose whole body is at hand. */
export interface WholeResponse {
  readonly status: number;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response that states its length, from which the size metrics are taken. */
export function textResponse(response: WholeResponse): Response {
  const { status, body, contentType = 'text/plain; charset=utf-8', headers = {} } = response;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const length = { 'content-length': String(bytes.length) };
  const type = bytes.length === 0 ? undefined : { 'content-type': contentType };
  return new Response(bytes, { status, headers: { ...headers, ...length, ...type } });
}
