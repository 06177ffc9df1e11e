import type { DrivePorts } from '#command/bedrock/drive-ports.ts';
import { FakeClock } from '../clocks/fake-clock.ts';

/** Returns what of the outside is not there: no cluster, no deploy API, no user at a terminal, no interruption. */
export function nothingToDrive(): Pick<
  DrivePorts,
  'clock' | 'openCluster' | 'openApi' | 'confirm' | 'interruption'
> {
  return {
    clock: new FakeClock(),
    openCluster: () => Promise.reject(new Error('there is no cluster')),
    openApi: () => Promise.reject(new Error('there is no deploy API')),
    confirm: undefined,
    interruption: () => ({ signal: new AbortController().signal, release: () => undefined }),
  };
}
