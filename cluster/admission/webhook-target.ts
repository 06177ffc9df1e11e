import type { JsonObject } from '#base/json.ts';
import { numberField, objectField, textField } from '../json/json-fields.ts';

/** Where a webhook is. */
export interface WebhookTarget {
  /** With the path, without a query. */
  readonly url: string;
  /** Whom the certificate must name (AD-12). */
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** PEM; undefined: what the system trusts. */
  readonly ca: string | undefined;
  /** Absent for the `url` form. */
  readonly service?: { readonly namespace: string; readonly name: string };
}

/** Returns the target of a `clientConfig` (AD-12). */
export function targetOf(client: JsonObject): WebhookTarget {
  const bundle = textField(client, 'caBundle');
  const ca = bundle === '' ? undefined : Buffer.from(bundle, 'base64').toString();
  const given = client['service'];
  return given === undefined
    ? urlTarget(textField(client, 'url'), ca)
    : serviceTarget(objectField(client, 'service'), ca);
}

function urlTarget(text: string, ca: string | undefined): WebhookTarget {
  const { origin, hostname, port, pathname } = new URL(text);
  return {
    url: `${origin}${pathname}`,
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    port: port === '' ? 443 : Number(port),
    path: pathname,
    ca,
  };
}

function serviceTarget(service: JsonObject, ca: string | undefined): WebhookTarget {
  const [namespace, name] = [textField(service, 'namespace'), textField(service, 'name')];
  const port = numberField(service, 'port') ?? 443;
  const given = textField(service, 'path');
  const path = given.startsWith('/') ? given : `/${given}`;
  const host = `${name}.${namespace}.svc`;
  return {
    url: `https://${host}:${port}${path}`,
    host,
    port,
    path,
    ca,
    service: { namespace, name },
  };
}
