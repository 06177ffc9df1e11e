import type { JsonObject } from '#base/json.ts';

/** One request, its body read to the end. */
export interface ApiRequest {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** What is answered, always as JSON. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

/** Returns an answer that says why there is no other. */
export function refusal(status: number, error: string): ApiAnswer {
  return { status, body: { error } };
}

/** Returns the one value of a header; undefined where there is none, or several. */
export function headerOf(
  { headers }: Pick<ApiRequest, 'headers'>,
  name: string,
): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}
