/** The cluster of a bench, in a process of its own; started by cluster.ts and told what to do by messages. */
import { errorOf } from '#base/error-of.ts';
import type { AnswerMessage, CommandMessage } from './cluster-commands.ts';
import { ClusterHost } from './cluster-host.ts';
import { EvictionHost } from './eviction-host.ts';

type Command = (argument: unknown) => Promise<unknown>;

const host = new ClusterHost();
const evictions = new EvictionHost(host);

async function run({ name, argument }: CommandMessage): Promise<unknown> {
  const owner = name in evictions ? evictions : host;
  const commands = owner as unknown as Readonly<Record<string, Command>>;
  return commands[name]?.call(owner, argument);
}

function answer(message: AnswerMessage): void {
  process.send?.(message);
}

process.on('message', (message: CommandMessage) => {
  const { id } = message;
  run(message).then(
    (value) => answer({ id, value }),
    (error: unknown) => {
      answer({ id, error: errorOf(error).message });
    },
  );
});
// Whoever started this process has gone.
process.on('disconnect', () => process.exit());
