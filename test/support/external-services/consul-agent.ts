import type { Registration } from './consul-server.ts';

/** Registers services with an agent, and changes how they are. */
export class ConsulAgent {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(base: string, token?: string) {
    this.#base = base;
    this.#headers = token === undefined ? {} : { 'x-consul-token': token };
  }

  async register(
    service: Omit<Registration, 'Check'>,
    Status: 'passing' | 'warning' | 'critical' = 'passing',
  ): Promise<void> {
    const Check = { CheckID: `check-of-${service.ID}`, Name: 'alive', TTL: '1h', Status };
    await this.#put('service/register', { ...service, Check });
  }

  async deregister(id: string): Promise<void> {
    await this.#put(`service/deregister/${id}`);
  }

  async setCheck(id: string, Status: 'passing' | 'warning' | 'critical'): Promise<void> {
    await this.#put(`check/update/check-of-${id}`, { Status });
  }

  async maintainService(id: string, isOn: boolean): Promise<void> {
    await this.#put(`service/maintenance/${id}?enable=${isOn}`);
  }

  async maintainNode(isOn: boolean): Promise<void> {
    await this.#put(`maintenance?enable=${isOn}`);
  }

  async #put(path: string, body?: unknown): Promise<void> {
    const { ok, status } = await fetch(`${this.#base}/v1/agent/${path}`, {
      method: 'PUT',
      headers: this.#headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!ok) throw new Error(`Cannot change ${path}: the agent answers ${status}`);
  }
}
