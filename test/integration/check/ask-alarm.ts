/**
 * Asks for an alarm as the operator does, and writes each finding as a line; credentials and endpoints are those of the environment.
 *
 *     node ask-alarm.ts <name> <how often> <milliseconds that each question has>
 */
import { millis } from '#base/units.ts';
import { Alarms } from '#check/cloudwatch/alarms.ts';
import { openCloudWatch } from '#check/cloudwatch/cloud-watch.ts';
import { systemClock } from '#telemetry/system-clock.ts';

const [name = '', times, timeout] = process.argv.slice(2);
const clock = systemClock();
const warn = (message: string, fields: object = {}): void => {
  process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
};
const source = openCloudWatch({ clock, env: process.env, log: { warn } });
// What is asked again is so at once, unlike in the program.
const [period, gather] = [millis(0), millis(0)];
const alarms = new Alarms({ clock, source, period, gather, timeout: millis(Number(timeout)) });
for (let time = 0; time < Number(times); time += 1) {
  const finding = await alarms.ask(name, { signal: new AbortController().signal });
  process.stdout.write(`${JSON.stringify(finding)}\n`);
}
await alarms.close();
