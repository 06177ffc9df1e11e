/**
 * The operator program as it runs in a pod, but for two things: where the API server is and the token come from
 * variables instead of the mounted files, and there is no TLS, as the embedded cluster serves none.
 */
import { staticCredentials } from '#kubernetes/connect/bearer-token.ts';
import type { ConnectionSettings } from '#kubernetes/connect/connection.ts';

const connection = (): Promise<ConnectionSettings> =>
  Promise.resolve({
    server: new URL(process.env['BENCH_API_URL'] ?? ''),
    tls: () => ({}),
    credentials: staticCredentials(`Bearer ${process.env['BENCH_API_TOKEN'] ?? ''}`),
  });

const [command, ...rest] = process.argv.slice(2);
if (command === 'zone-aware-controllers') {
  const { zoneAwareControllersCommand } = await import('#command/zone-aware-controllers.ts');
  process.exitCode = await zoneAwareControllersCommand(rest, connection);
} else if (command === 'statefulset-rollout') {
  const { statefulsetRolloutCommand } = await import('#command/statefulset-rollout.ts');
  process.exitCode = await statefulsetRolloutCommand(rest, connection);
} else {
  const { runCommand } = await import('#command/run.ts');
  process.exitCode = await runCommand(process.argv.slice(2), connection);
}
