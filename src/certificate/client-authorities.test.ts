import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instant, minutes, seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { RecordingLogger } from '#support/telemetry/recording.ts';
import { type ClientAuthorities, openClientAuthorities } from './client-authorities.ts';
import {
  type RunningCertificate,
  type ServedPair,
  SettableSource,
} from './x509/certificate-source.ts';
import { type IssuedPair, issueSelfSigned } from './x509/issue.ts';

const T0 = Date.UTC(2026, 0, 1);
const [one, two, served] = await Promise.all([issued(), issued(), issued()]);

function issued(): Promise<IssuedPair> {
  return issueSelfSigned({
    now: instant(T0),
    expiration: minutes(60),
    organization: 'o',
    dnsNames: ['a.svc'],
  });
}

class Stage {
  readonly clock = new FakeClock(T0);
  readonly log = new RecordingLogger();
  /** What the file holds; undefined: there is none. */
  text: string | undefined = one.ca;

  open(): Promise<ClientAuthorities> {
    const { clock, log } = this;
    const read = async (): Promise<string> => {
      if (this.text === undefined) throw new Error('ENOENT');
      return this.text;
    };
    return openClientAuthorities({ file: 'ca.crt', clock, log, read });
  }

  warnings(): readonly unknown[] {
    return this.log.lines
      .filter(({ level }) => level === 'warn')
      .map(({ fields }) => fields['why']);
  }
}

const problems: Readonly<Record<string, readonly [text: string | undefined, why: RegExp]>> = {
  'that is not there': [undefined, /: ca\.crt must be a readable file: ENOENT$/],
  'without a certificate': ['CA', /: ca\.crt must hold a PEM certificate: found none$/],
  'with more than eight of them': [
    (await Promise.all(Array.from({ length: 9 }, issued))).map(({ ca }) => ca).join(''),
    /: ca\.crt must hold at most 8 CAs: found 9$/,
  ],
};

describe('[found X-1] openClientAuthorities()', () => {
  for (const [what, [text, why]] of Object.entries(problems)) {
    test(`refuses a file ${what}`, async () => {
      const stage = new Stage();
      stage.text = text;
      await assert.rejects(stage.open(), why);
    });
  }

  test('serves with them, and with those of the file within 10 s of a change', async () => {
    const stage = new Stage();
    const source = new SettableSource(served);
    const opened: RunningCertificate = {
      source,
      ready: Promise.resolve(),
      run: () => Promise.resolve(),
    };
    const together = (await stage.open()).beside(opened);
    const { cert, key } = served;
    assert.deepEqual(together.source.current(), { cert, key, clientCa: one.ca });
    const changes: ServedPair[] = [];
    together.source.onChange(() => changes.push(together.source.current()));
    const ending = new AbortController();
    const ended = together.run(ending.signal);
    stage.text = undefined;
    await stage.clock.advance(seconds(30));
    assert.deepEqual(stage.warnings(), ['ca.crt must be a readable file: ENOENT']);
    stage.text = two.ca;
    await stage.clock.advance(seconds(10));
    source.set(one);
    assert.deepEqual(changes, [
      { cert, key, clientCa: two.ca },
      { cert: one.cert, key: one.key, clientCa: two.ca },
    ]);
    ending.abort();
    await ended;
  });
});
