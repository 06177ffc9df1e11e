/** The program of an image: the operator alone. The demo and the embedded cluster are for checkouts. */
import { runCommand } from './run.ts';

const args = process.argv.slice(2);
const [first = '-'] = args;
if (first.startsWith('-')) {
  process.exitCode = await runCommand(args);
} else {
  process.stderr.write(
    `There is no command "${first}" here: an image has the operator alone, which takes flags\n`,
  );
  process.exitCode = 2;
}
