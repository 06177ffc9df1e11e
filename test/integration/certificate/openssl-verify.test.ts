/** The certificates that we make, looked at by another implementation: `openssl verify`, which holds them to RFC 5280. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { instant, minutes } from '#base/units.ts';
import { issueSelfSigned } from '#certificate/x509/issue.ts';

const name = 'rollout-operator.cells.svc';

/** How a verification ends, with what was said. */
interface Verified {
  readonly isAccepted: boolean;
  readonly said: string;
}

/** Issues for {@link name} at two times, and asks whether the CA of the first vouches for the leaf of either. */
async function verified(
  context: TestContext,
  options: readonly string[],
): Promise<{ readonly own: Verified; readonly other: Verified }> {
  const folder = mkdtempSync(join(tmpdir(), 'openssl-verify-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const issue = (): ReturnType<typeof issueSelfSigned> =>
    issueSelfSigned({
      dnsNames: [name],
      organization: 'Grafana Labs',
      expiration: minutes(60),
      now: instant(Date.now()),
    });
  const [own, other] = [await issue(), await issue()];
  for (const [file, text] of Object.entries({ ca: own.ca, own: own.cert, other: other.cert })) {
    writeFileSync(join(folder, file), text);
  }
  const verify = (leaf: string): Verified => {
    const files = ['-CAfile', join(folder, 'ca'), join(folder, leaf)];
    const { error, status, stdout, stderr } = spawnSync(
      'openssl',
      ['verify', '-x509_strict', '-no-CApath', '-no-CAstore', ...options, ...files],
      { encoding: 'utf8' },
    );
    if (error !== undefined) throw new Error('Cannot run openssl', { cause: error });
    return { isAccepted: status === 0, said: stdout + stderr };
  };
  return { own: verify('own'), other: verify('other') };
}

/** Where openssl is not installed the test is skipped, and says so; in CI it fails. */
const skip =
  process.env['CI'] !== 'true' && spawnSync('openssl', ['version']).status !== 0
    ? 'openssl is not installed'
    : false;

test('openssl accepts a new certificate as one of a server of its name, by its own CA alone', {
  skip,
}, async (context) => {
  const { own, other } = await verified(context, [
    '-purpose',
    'sslserver',
    '-verify_hostname',
    name,
  ]);
  assert.ok(own.isAccepted, own.said);
  assert.ok(!other.isAccepted, other.said);
});

test('openssl accepts a new certificate for no other name', { skip }, async (context) => {
  const { own } = await verified(context, ['-verify_hostname', 'another.cells.svc']);
  assert.ok(!own.isAccepted, own.said);
  assert.match(own.said, /hostname mismatch/);
});
