import type { SharedTexts, TextChanges } from '#kubernetes/shared-config-map.ts';
import { MovedError } from '../review/dependency.ts';
import type { ClaimStore } from './claim-store.ts';

/** Claims in the memory of this process, where the Role does not permit the ConfigMap: no other replica sees them. */
export class OwnClaims implements ClaimStore {
  #map: SharedTexts = { configMap: undefined, texts: new Map() };

  read(): Promise<SharedTexts> {
    return Promise.resolve(this.#map);
  }

  write(map: SharedTexts, changes: TextChanges): Promise<SharedTexts> {
    if (map !== this.#map) return Promise.reject(new MovedError('the claims have changed'));
    const texts = new Map(map.texts);
    for (const [key, text] of changes) {
      if (text === undefined) texts.delete(key);
      else texts.set(key, text);
    }
    this.#map = { configMap: undefined, texts };
    return Promise.resolve(this.#map);
  }
}
