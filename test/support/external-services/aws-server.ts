import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, LocalServer } from './local-server.ts';

/** What a client signs with. */
export interface AwsKeys {
  readonly id: string;
  readonly secret: string;
  /** Absent for those of a user, which never expire. */
  readonly token?: string;
}

/** An alarm as this server has it. */
export interface StoredAlarm {
  readonly name: string;
  readonly kind: 'composite' | 'metric';
  readonly state: string;
  readonly reason?: string;
  /** Since when it is in that state, in seconds since 1970. */
  readonly since?: number;
}

/** One request as the server saw it. */
export interface AwsRequestSeen {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What answers a request in place of the server, once. */
export type AwsObstacle = (response: ServerResponse) => void;

/** What a question for alarms says, with its defaults left out. */
interface DescribeAlarms {
  readonly AlarmNames?: readonly string[];
  readonly AlarmTypes?: readonly string[];
  readonly MaxRecords?: number;
  readonly NextToken?: string;
}

const jsonType = 'application/x-amz-json-1.0';
const operation = 'GraniteServiceVersion20100801.DescribeAlarms';

/**
 * Stands in for AWS on 127.0.0.1, as the SDK speaks to it: CloudWatch in AWS JSON 1.0 with the codes of its older protocol next to it,
 * STS in the query protocol, and the endpoint of credentials in a container. Signatures are computed again and compared, as the
 * documentation of Signature Version 4 says.
 */
export class AwsServer {
  readonly received: AwsRequestSeen[] = [];
  readonly alarms: StoredAlarm[] = [];
  /** Answer the next requests for alarms, one each. */
  readonly obstacles: AwsObstacle[] = [];
  /** Answer requests for alarms that name one of these. */
  readonly refusedNames = new Map<string, AwsObstacle>();
  /** Answer the next requests for credentials, one each. */
  readonly credentialObstacles: AwsObstacle[] = [];
  /** Whose signatures are taken. */
  keys: AwsKeys = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI' };
  /** Tokens that have expired. */
  readonly expiredTokens = new Set<string>();
  /** The text of the file that vouches for the pod. */
  webIdentity = 'token-of-the-pod';
  /** What a container sends along. */
  containerToken = 'token-of-the-container';
  /** Alarms of one page, at most what the client asks for. */
  pageSize = 100;
  readonly #server: LocalServer;

  constructor() {
    this.#server = new LocalServer((request, response) => void this.#serve(request, response));
  }

  /** Starts listening. @returns the URL */
  async listen(): Promise<string> {
    const port = await this.#server.listen();
    return `http://127.0.0.1:${port}`;
  }

  /** Returns the requests for alarms, as they were sent. */
  get calls(): readonly DescribeAlarms[] {
    return this.received
      .filter(({ headers }) => headers['x-amz-target'] === operation)
      .map(({ body }) => JSON.parse(body) as DescribeAlarms);
  }

  /** Ends all connections and stops listening. */
  close(): Promise<void> {
    return this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const seen: AwsRequestSeen = {
      method: request.method ?? '',
      target: request.url ?? '',
      headers: request.headers,
      body,
    };
    this.received.push(seen);
    const isForAlarms = seen.headers['x-amz-target'] !== undefined;
    const obstacle = (isForAlarms ? this.obstacles : this.credentialObstacles).shift();
    if (obstacle !== undefined) obstacle(response);
    else if (isForAlarms) this.#describe(seen, response);
    else if (seen.method === 'GET') this.#container(seen, response);
    else this.#sts(seen, response);
  }

  #describe(seen: AwsRequestSeen, response: ServerResponse): void {
    const refusal = this.#refusalOf(seen);
    if (refusal !== undefined) {
      refusal(response);
      return;
    }
    const asked = JSON.parse(seen.body) as DescribeAlarms;
    const names = asked.AlarmNames ?? [];
    const refusalOfNames = this.#refusalOfNames(names);
    if (refusalOfNames !== undefined) {
      refusalOfNames(response);
      return;
    }
    const types = asked.AlarmTypes ?? ['MetricAlarm'];
    const found = this.alarms.filter(
      ({ name, kind }) =>
        names.includes(name) &&
        types.includes(kind === 'composite' ? 'CompositeAlarm' : 'MetricAlarm'),
    );
    const from = Number(asked.NextToken ?? '0');
    const to = from + Math.min(asked.MaxRecords ?? 50, this.pageSize);
    const page = found.slice(from, to);
    answerJson(response, {
      CompositeAlarms: page.filter(({ kind }) => kind === 'composite').map(written),
      MetricAlarms: page.filter(({ kind }) => kind === 'metric').map(written),
      ...(to < found.length && { NextToken: String(to) }),
    });
  }

  #refusalOf(seen: AwsRequestSeen): AwsObstacle | undefined {
    const { headers } = seen;
    const token = headers['x-amz-security-token'];
    if (typeof token === 'string' && this.expiredTokens.has(token)) return expiredToken;
    if (token !== this.keys.token || !isSigned(seen, this.keys)) {
      const message = 'The security token included in the request is invalid.';
      return awsError('UnrecognizedClientException', message, 403);
    }
    const isKnown = headers['x-amz-target'] === operation && headers['content-type'] === jsonType;
    return isKnown ? undefined : awsError('UnknownOperationException', '', 404);
  }

  #refusalOfNames(names: readonly string[]): AwsObstacle | undefined {
    if (names.length > 100 || names.some((name) => name.length === 0 || name.length > 255)) {
      return awsError('ValidationError', '1 validation error detected', 400);
    }
    return names.map((name) => this.refusedNames.get(name)).find((each) => each !== undefined);
  }

  #container({ headers }: AwsRequestSeen, response: ServerResponse): void {
    if (headers.authorization !== this.containerToken) {
      response.writeHead(401).end('{"message":"no such token"}');
      return;
    }
    const { id, secret, token } = this.keys;
    const Expiration = '2099-01-01T00:00:00Z';
    const credentials = { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(credentials));
  }

  #sts({ body }: AwsRequestSeen, response: ServerResponse): void {
    const form = new URLSearchParams(body);
    const isAsked = form.get('Action') === 'AssumeRoleWithWebIdentity';
    if (!isAsked || form.get('WebIdentityToken') !== this.webIdentity) {
      response
        .writeHead(400, { 'content-type': 'text/xml' })
        .end(
          '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>InvalidIdentityToken</Code><Message>No OpenIDConnect provider found in your account</Message></Error><RequestId>r</RequestId></ErrorResponse>',
        );
      return;
    }
    const { id, secret, token = '' } = this.keys;
    response
      .writeHead(200, { 'content-type': 'text/xml' })
      .end(
        `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${token}</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials><AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/r/s</Arn><AssumedRoleId>i</AssumedRoleId></AssumedRoleUser></AssumeRoleWithWebIdentityResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></AssumeRoleWithWebIdentityResponse>`,
      );
  }
}

function written({ name, state, reason, since }: StoredAlarm): object {
  const times = { StateTransitionedTimestamp: since, StateUpdatedTimestamp: since };
  return { AlarmName: name, StateValue: state, StateReason: reason, ...times };
}

function answerJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': jsonType }).end(JSON.stringify(value));
}

/** Answers an error in the form of AWS JSON. */
export function awsError(name: string, message: string, status: number): AwsObstacle {
  return (response) => {
    response
      .writeHead(status, { 'content-type': jsonType })
      .end(JSON.stringify({ __type: `com.amazon.coral.service#${name}`, message }));
  };
}

/** Asked too often, with the code of the older protocol next to it, as CloudWatch says so. */
export const throttling: AwsObstacle = (response) => {
  const type = 'com.amazon.coral.availability#ThrottlingException';
  response
    .writeHead(400, { 'content-type': jsonType, 'x-amzn-query-error': 'Throttling;Sender' })
    .end(JSON.stringify({ __type: type, message: 'Rate exceeded' }));
};

/** Credentials that were good once. */
export const expiredToken: AwsObstacle = awsError(
  'ExpiredTokenException',
  'The security token included in the request is expired',
  403,
);

/** Answers `body` with `status`, whatever was asked. */
export function answeringText(status: number, body: string): AwsObstacle {
  return (response) => void response.writeHead(status, { 'content-type': jsonType }).end(body);
}

/** Begins an answer, and never ends it. */
export const endless: AwsObstacle = (response) => {
  response.writeHead(200, { 'content-type': jsonType }).write('{"MetricAlarms":[');
};

/** Takes the request, and says nothing. */
export const silent: AwsObstacle = () => undefined;

/** Ends the connection in the middle of a request. */
export const broken: AwsObstacle = (response) => void response.destroy();

/** Reports whether `seen` is signed with `keys`, by what AWS documents of Signature Version 4. */
function isSigned({ method, target, headers, body }: AwsRequestSeen, keys: AwsKeys): boolean {
  const match =
    /^AWS4-HMAC-SHA256 Credential=(?<id>[^/]+)\/(?<scope>[^,]+), SignedHeaders=(?<names>[^,]+), Signature=(?<signature>\w+)$/.exec(
      headers.authorization ?? '',
    )?.groups;
  if (match?.['id'] !== keys.id) return false;
  const { scope = '', names = '', signature } = match;
  const [path = '', query = ''] = target.split('?');
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const parts = [method, path, query, signed.join(''), names, sha256(body)];
  const date = String(headers['x-amz-date']);
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(parts.join('\n'))].join('\n');
  let key: string | Buffer = `AWS4${keys.secret}`;
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest();
  return createHmac('sha256', key).update(text).digest('hex') === signature;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
