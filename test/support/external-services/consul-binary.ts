import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { freePorts } from '../free-ports.ts';

/** Why no real Consul is asked. */
export const NO_CONSUL = 'there is no consul in PATH, and CONSUL_BINARY names none';

const binary = process.env['CONSUL_BINARY'] || 'consul';

/** Whether no Consul is installed. */
export const isConsulMissing = spawnSync(binary, ['version']).error !== undefined;

/** An agent that runs. */
export interface RunningConsul {
  readonly base: string;
  stop(): Promise<void>;
}

/** Starts `consul agent -dev`, where only `token` may see anything, and resolves once it has a leader. */
export async function startConsul(token: string): Promise<RunningConsul> {
  const ports = await freePorts(7);
  const names = ['http', 'grpc', 'dns', 'server', 'serf_lan', 'serf_wan'];
  const chosen = names.map((name, at) => `${name} = ${ports[at]}`).join('\n');
  const acl = `acl { enabled = true default_policy = "deny" tokens { initial_management = "${token}" agent = "${token}" } }`;
  const settings = `ports {\n${chosen}\ngrpc_tls = -1\n}\n${acl}`;
  const agent = spawn(binary, ['agent', '-dev', '-hcl', settings], { stdio: 'ignore' });
  const base = `http://127.0.0.1:${ports[0]}`;
  await led(base, token, agent);
  return {
    base,
    stop: async () => {
      agent.kill('SIGKILL');
      if (agent.exitCode === null && agent.signalCode === null) await once(agent, 'exit');
    },
  };
}

async function led(base: string, token: string, agent: ChildProcess): Promise<void> {
  const headers = { 'x-consul-token': token };
  for (let tries = 0; tries < 300; tries += 1) {
    if (agent.exitCode !== null) throw new Error(`Consul ended with ${agent.exitCode}`);
    // Only once ACLs are in force the token is known, and the agent is in the catalogue.
    const answer = await fetch(`${base}/v1/health/node/any`, { headers }).catch(() => undefined);
    const leader = await fetch(`${base}/v1/status/leader`, { headers }).catch(() => undefined);
    if (answer?.ok === true && (await leader?.text())?.length !== 2) return;
    await new Promise<void>((resolve) => void setTimeout(resolve, 100));
  }
  throw new Error('Consul has no leader within 30 s');
}
