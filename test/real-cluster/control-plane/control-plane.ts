/** A real control plane: etcd, kube-apiserver and kube-controller-manager on 127.0.0.1, gone without a trace after. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import type { Client } from '#kubernetes/client.ts';
import { staticCredentials, withCredentials } from '#kubernetes/connect/bearer-token.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { createHttpTransport } from '#kubernetes/transport/http-transport.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { freePorts } from '#support/free-ports.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import type { Binaries } from './binaries.ts';
import { PlaneLayout } from './plane-layout.ts';
import { type Program, Programs } from './programs.ts';

/** A control plane that serves, whatever started it. */
export interface ControlPlane {
  /** What we started beside it; all of it ends with {@link close}. */
  readonly programs: Programs;
  readonly clock: Clock;
  /** As an administrator. */
  readonly admin: Client;
  /** A connection as an administrator, of its own. */
  connectAsAdmin(): Transport;
  /** A connection with a token, of its own. */
  connect(token: string): Transport;
  /** A kubeconfig with `token`, TLS verified; with `through`, of a proxy before the API server, over plain HTTP. */
  kubeconfig(token: string, through?: URL): string;
  /** Ends what was started and removes the folder. */
  close(): Promise<void>;
}

/** A control plane that is ours: it can be looked into, and disturbed. */
export interface OwnControlPlane extends ControlPlane {
  /** Of the API server. */
  readonly server: URL;
  /** PEM text of what the API server's certificate is trusted by. */
  readonly ca: string;
  /** Of etcd, for the recorder. */
  readonly etcd: URL;
  readonly auditPath: string;
  /** A kubeconfig of an administrator. */
  readonly adminKubeconfig: string;
  /** Ends the API server by `signal`, starts it again, and waits until it serves. */
  restartApiServer(signal: NodeJS.Signals): Promise<void>;
  /** Ends the API server by `signal`. @returns how long that took, in ms */
  endApiServer(signal: NodeJS.Signals): Promise<number>;
  /** Starts the API server again; resolves when it answers at all, which is before it is ready. */
  beginApiServer(): Promise<void>;
  /** Makes etcd forget all revisions but the newest of each object. */
  compactEtcd(): Promise<void>;
  /** Stops etcd's process, or lets it go on. */
  pauseEtcd(): void;
  resumeEtcd(): void;
}

/** How long each program may take until it serves. */
const patience = seconds(90);

/** What differs from the usual control plane. */
export interface ControlPlaneOptions {
  /** Whether kube-controller-manager runs. @default true */
  readonly hasControllers?: boolean;
  /** As the flag `--feature-gates` of the API server and the controllers. @default the version's own */
  readonly featureGates?: string;
}

/** Starts a control plane; resolves when its API server serves and its controllers work. */
export async function startControlPlane(
  binaries: Binaries,
  { hasControllers = true, featureGates = '' }: ControlPlaneOptions = {},
): Promise<OwnControlPlane> {
  const programs = await Programs.create();
  try {
    const { folder } = programs;
    const layout = new PlaneLayout({ binaries, folder, featureGates }, await freePorts(3));
    const plane = new RealControlPlane(programs, layout);
    await plane.start();
    if (hasControllers) await plane.startControllers();
    return plane;
  } catch (error) {
    await programs.close();
    throw error;
  }
}

/** The minor version of the API server that `admin` is connected to: 36 for 1.36. @throws {Error} when it does not tell */
export async function minorOf(admin: Client): Promise<number> {
  const version = await admin.raw({ method: 'GET', path: '/version' });
  // Some providers add a plus.
  const minor = isJsonObject(version) ? Number.parseInt(textAt(version, 'minor'), 10) : Number.NaN;
  if (Number.isNaN(minor)) throw new Error('The API server does not tell its version');
  return minor;
}

class RealControlPlane implements OwnControlPlane {
  readonly programs: Programs;
  readonly server: URL;
  readonly etcd: URL;
  readonly auditPath: string;
  readonly #adminToken = randomBytes(24).toString('hex');
  readonly clock = systemClock();
  readonly #layout: PlaneLayout;
  readonly #managerToken = randomBytes(24).toString('hex');
  readonly #transports: Transport[] = [];
  #ca = '';
  #admin: Client | undefined;
  #etcd: Program | undefined;
  #apiServer: Program | undefined;

  constructor(programs: Programs, layout: PlaneLayout) {
    this.programs = programs;
    this.#layout = layout;
    this.server = layout.server;
    this.etcd = layout.etcd;
    this.auditPath = layout.auditPath;
  }

  get admin(): Client {
    if (this.#admin === undefined)
      throw new Error('Cannot use a control plane that has not started');
    return this.#admin;
  }

  async start(): Promise<void> {
    await this.#layout.writeFiles({ admin: this.#adminToken, manager: this.#managerToken });
    this.#etcd = await this.programs.start(this.#layout.etcdProgram());
    await this.#startApiServer();
  }

  async startControllers(): Promise<void> {
    const file = this.#layout.path('controller-manager.kubeconfig');
    await writeFile(file, this.kubeconfig(this.#managerToken), { mode: 0o600 });
    const manager = await this.programs.start(this.#layout.managerProgram(file));
    await this.#until(manager, 'make the default service account', () => this.#hasAccount());
  }

  get ca(): string {
    return this.#ca;
  }

  get adminKubeconfig(): string {
    return this.kubeconfig(this.#adminToken);
  }

  connectAsAdmin(): Transport {
    return this.connect(this.#adminToken);
  }

  connect(token: string): Transport {
    const { server, clock } = this;
    const tls = (): { ca: string } => ({ ca: this.#ca });
    const transport = withCredentials(
      createHttpTransport({ server, clock, tls, connections: 64 }),
      staticCredentials(`Bearer ${token}`),
    );
    this.#transports.push(transport);
    return transport;
  }

  kubeconfig(token: string, through?: URL): string {
    const ca = Buffer.from(this.#ca).toString('base64');
    const trust = through === undefined ? { 'certificate-authority-data': ca } : {};
    const { origin: server } = through ?? this.server;
    return `${JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'real',
      contexts: [{ name: 'real', context: { cluster: 'real', user: 'user' } }],
      clusters: [{ name: 'real', cluster: { server, ...trust } }],
      users: [{ name: 'user', user: { token } }],
    })}\n`;
  }

  async restartApiServer(signal: NodeJS.Signals): Promise<void> {
    await this.endApiServer(signal);
    await this.#startApiServer();
  }

  async endApiServer(signal: NodeJS.Signals): Promise<number> {
    const start = this.clock.monotonic();
    await this.#apiServer?.end(signal);
    return this.clock.monotonic() - start;
  }

  async beginApiServer(): Promise<void> {
    const program = await this.#launchApiServer();
    await this.#until(program, 'answer', () => this.#answers());
  }

  async compactEtcd(): Promise<void> {
    const newest = await this.#askEtcd('range', { key: Buffer.from('\0').toString('base64') });
    const { revision } = newest.header;
    // Physically: the answer comes once it is done.
    await this.#askEtcd('compaction', { revision, physical: true });
  }

  async #askEtcd(call: string, body: JsonObject): Promise<{ header: { revision: string } }> {
    const answer = await fetch(new URL(`/v3/kv/${call}`, this.etcd), {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { header: { revision: string } };
  }

  pauseEtcd(): void {
    this.#etcd?.signal('SIGSTOP');
  }

  resumeEtcd(): void {
    this.#etcd?.signal('SIGCONT');
  }

  async close(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.close()));
    await this.programs.close();
  }

  async #startApiServer(): Promise<void> {
    const program = await this.#launchApiServer();
    await this.#until(program, 'serve', () => this.#isReady());
  }

  async #launchApiServer(): Promise<Program> {
    const program = await this.programs.start(this.#layout.apiServerProgram());
    this.#apiServer = program;
    return program;
  }

  async #isReady(): Promise<boolean> {
    // Each time anew: the server creates the file before it has written it, and half a certificate is never trusted.
    this.#ca = await readFile(this.#layout.path('certificates/apiserver.crt'), 'utf8');
    this.#admin ??= createClient({
      transport: this.connectAsAdmin(),
      clock: this.clock,
      timeout: seconds(30),
      userAgent: 'real-lane',
    });
    return (await this.#statusOf('/readyz')) === 200;
  }

  async #answers(): Promise<boolean> {
    return (await this.#statusOf('/livez/ping')) === 200;
  }

  async #statusOf(path: string): Promise<number | undefined> {
    const request = { method: 'GET', path, timeout: seconds(2) } as const;
    return (await this.#transports[0]?.request(request))?.status;
  }

  async #hasAccount(): Promise<boolean> {
    await this.admin.get(resourceTypes.serviceAccounts, { namespace: 'default', name: 'default' });
    return true;
  }

  async #until(program: Program, what: string, holds: () => Promise<boolean>): Promise<void> {
    const deadline = this.clock.monotonic() + patience;
    let last = 'it does not hold';
    const probe = (): Promise<boolean> =>
      holds().catch((error: unknown) => {
        last = errorOf(error).message;
        return false;
      });
    while (!(await probe())) {
      if (program.hasEnded || this.clock.monotonic() > deadline) {
        const how = program.hasEnded ? 'ended' : 'had 90 s';
        const why = `it ${how}, and the last look said: ${last}`;
        throw new Error(`${program.name} did not ${what}: ${why}\n${await program.logTail()}`);
      }
      // A program that starts tells nobody; this is its only probe.
      await this.clock.sleep(millis(50));
    }
  }
}
