/** The cluster of a bench, in a process of its own; started by cluster.ts and told what to do by messages. */
import { errorOf } from '#base/error-of.ts';
import type { AnswerMessage, CommandMessage } from './cluster-commands.ts';
import { ClusterHost } from './cluster-host.ts';
import { EvictionHost } from './eviction-host.ts';
import { PercentHost } from './percent-host.ts';

type Command = (argument: unknown) => Promise<unknown>;

const host = new ClusterHost();
/** Each has commands of its own; what is none of theirs is the cluster's. */
const others = [new EvictionHost(host), new PercentHost(host)];

async function run({ name, argument }: CommandMessage): Promise<unknown> {
  const owner = others.find((each) => name in each) ?? host;
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
// The process that started this one has gone.
process.on('disconnect', () => process.exit());
