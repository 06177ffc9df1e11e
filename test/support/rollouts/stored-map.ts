import type { CallOptions } from '#kubernetes/client.ts';
import type { SharedTexts, TextChanges } from '#kubernetes/shared-config-map.ts';
import { refusal } from './group-world.ts';

/** The ConfigMap at the API server: every write must name the version that is there. */
export class StoredMap {
  readonly calls: string[] = [];
  texts: ReadonlyMap<string, string> = new Map();
  version = 0;
  /** Runs before each call takes effect; what it throws is the answer. */
  before: (call: string) => void | Promise<void> = () => undefined;
  /** Runs once it has taken effect; what it throws is the answer. */
  after: (call: string) => void | Promise<void> = () => undefined;
  /** Runs before a request leaves. */
  atSend: () => void | Promise<void> = () => undefined;

  async read(): Promise<SharedTexts> {
    return this.#call('read', undefined, () => undefined);
  }

  async write(map: SharedTexts, changes: TextChanges, options: CallOptions): Promise<SharedTexts> {
    await this.atSend();
    options.beforeSend?.();
    return this.#call(
      `write ${[...changes].map(([key, text]) => `${key}=${text}`).join()}`,
      map,
      () => {
        const kept = [...map.texts].filter(([key]) => !changes.has(key));
        const made = [...changes].flatMap(([key, text]) =>
          text === undefined ? [] : [[key, text] as const],
        );
        this.texts = new Map([...kept, ...made]);
        this.version += 1;
      },
    );
  }

  /** Deletes it as another client. */
  drop(): void {
    this.texts = new Map();
    this.version = 0;
  }

  /** Writes as another client. */
  change(key: string, text: string): void {
    this.texts = new Map([...this.texts, [key, text]]);
    this.version += 1;
  }

  async #call(
    call: string,
    seen: SharedTexts | undefined,
    effect: () => void,
  ): Promise<SharedTexts> {
    this.calls.push(call);
    await this.before(call);
    const version = String(this.version);
    if (seen !== undefined && versionOf(seen) !== version) throw refusal(409);
    effect();
    await this.after(call);
    const { texts } = this;
    const resourceVersion = String(this.version);
    const metadata = { namespace: 'test', name: 'shared', uid: 'shared-uid', resourceVersion };
    return { texts, configMap: this.version === 0 ? undefined : { metadata } };
  }
}

function versionOf({ configMap }: SharedTexts): string {
  return configMap?.metadata.resourceVersion ?? '0';
}
