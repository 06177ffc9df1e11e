import { readFileSync } from 'node:fs';

/** Clock ticks a second in /proc, which is the same on all that Linux runs on. */
const ticksPerSecond = 100;

/** What a process has used, as the kernel counts it. */
export interface Usage {
  /** User and system time of all its threads, in seconds; in steps of 10 ms. */
  readonly cpuSeconds: number;
  /** Resident memory now, in MB of 10^6 bytes. */
  readonly rss: number;
  /** The most that was ever resident, in MB of 10^6 bytes. */
  readonly peakRss: number;
}

/** What process `pid` has used so far. @throws where there is no /proc, or no such process */
export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name in brackets and may hold blanks; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuSeconds: ticks / ticksPerSecond,
    rss: megabytes(status, 'VmRSS'),
    peakRss: megabytes(status, 'VmHWM'),
  };
}

function megabytes(status: string, field: string): number {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kibibytes === undefined) throw new Error(`Cannot find ${field} in /proc status`);
  return (Number(kibibytes) * 1024) / 1e6;
}

/** A reading of the processor time of the whole machine, in ticks. */
export interface MachineReading {
  readonly total: number;
  readonly idle: number;
  /** Taken by other machines of the same host while a process of this one could have run. */
  readonly stolen: number;
}

/** How much processor time the machine has spent so far. */
export function machineReading(): MachineReading {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const [, , , idle = 0, waiting = 0, , , stolen = 0] = ticks;
  return { total: ticks.reduce((sum, each) => sum + each, 0), idle: idle + waiting, stolen };
}

/** How the machine was used since `before`, by anybody: `machine 62 % busy, 8 % taken by its host`. */
export function loadSince(before: MachineReading): string {
  const now = machineReading();
  const share = (ticks: number): string =>
    `${Math.round((100 * ticks) / Math.max(1, now.total - before.total))} %`;
  const stolen = now.stolen - before.stolen;
  const busy = now.total - before.total - (now.idle - before.idle) - stolen;
  return `machine ${share(busy)} busy, ${share(stolen)} taken by its host`;
}
