import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { Alarms } from '#check/cloudwatch/alarms.ts';
import { openCloudWatch } from '#check/cloudwatch/cloud-watch.ts';

/** Returns the alarms of CloudWatch, as the environment of this process says who asks. */
export function openAlarms(parts: { readonly clock: Clock; readonly log: Logger }): Alarms {
  const { clock } = parts;
  return new Alarms({ clock, source: openCloudWatch({ ...parts, env: process.env }) });
}
