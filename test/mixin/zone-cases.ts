import { type FiringCase, of, type Series, type SilentCase } from './alert-series.ts';

const paused = 'zau_paused_rollout';
const step = 'zau_status_update_step';
const old = 'zau_status_old_replicas';
const unhealthyZones = 'zdb_status_zones_unhealthy';
const answers = 'zdb_eviction_status_reason';

/** As a scrape that renames labels has it: the namespace of the update is not that of the program. */
const update = { exported_namespace: 'cells', zau: 'ingester' } as const;
const budget = { exported_namespace: 'cells', zdb: 'store' } as const;

const denied = of(answers, { status: 'denied', reason: 'DeniedByZdb' });
const allowed = of(answers, { status: 'allowed', reason: 'DisruptionAllowed' });
const ungoverned = of(answers, { status: 'allowed', reason: 'NoZdb' });

/** An update of two zones that stands in the midst of the first, and has for two hours. */
const standing: Series = {
  [of(step, update)]: '0 3x120',
  [of(old, { ...update, zone: 'a' })]: '0 4x120',
  [of(old, { ...update, zone: 'b' })]: '0 6x120',
  [of(paused, update)]: '0x121',
  [of('zau_dryrun_enabled', update)]: '0x121',
};

/** An update that goes on for a day, and a budget over its pods. */
export const zoneHealthy: Series = {
  [of(step, update)]: '1+1x1500',
  [of(old, { ...update, zone: 'a' })]: '2000-1x1500',
  [of(paused, update)]: '0x1500',
  [of('zau_dryrun_enabled', update)]: '0x1500',
  [of(unhealthyZones, budget)]: '1x1500',
  [denied]: '0+3x1500',
  [allowed]: '0+1x1500',
};

/** ZoneAwareUpdates and ZoneDisruptionBudgets. Each alert fires here at least once. */
export const zoneFiring: readonly FiringCase[] = [
  {
    alert: 'RolloutOperatorZoneUpdatePaused',
    series: { [of(paused, update)]: '0x5 1x120' },
    at: 67,
    severity: 'warning',
    labels: update,
    description:
      'ZoneAwareUpdate ingester in cells takes no further step, as its alarm rings or its query is out of range.',
  },
  {
    alert: 'RolloutOperatorZoneUpdatePaused',
    when: 'the scrape honours labels, so that the namespace is that of the update',
    series: { [of(paused, { zau: 'ingester' })]: '1x120' },
    at: 61,
    severity: 'warning',
    labels: { zau: 'ingester' },
    description:
      'ZoneAwareUpdate ingester in mimir takes no further step, as its alarm rings or its query is out of range.',
  },
  {
    alert: 'RolloutOperatorZoneUpdateStuck',
    series: standing,
    at: 65,
    severity: 'warning',
    labels: update,
    description:
      '10 pods of ZoneAwareUpdate ingester in cells were old before its last step, and none was taken for half an hour.',
  },
  {
    alert: 'RolloutOperatorZonesUnhealthy',
    series: { [of(unhealthyZones, budget)]: '1x5 2x60' },
    at: 22,
    severity: 'warning',
    labels: budget,
    description:
      'ZoneDisruptionBudget store in cells has pods that are not healthy in 2 zones, so that no pod may be evicted.',
  },
  {
    alert: 'RolloutOperatorZoneEvictionsDenied',
    series: { [denied]: '0+3x120', [allowed]: '7x120', [ungoverned]: '0+1x120' },
    at: 70,
    severity: 'warning',
    labels: {},
    description:
      'For half an hour and more the ZoneDisruptionBudgets of mimir have denied all evictions that they were asked about.',
  },
];

/** Near to an alert, and no reason for it. */
export const zoneSilent: Readonly<Record<string, SilentCase>> = {
  'the alarm rings for half an hour at a time': {
    alert: 'RolloutOperatorZoneUpdatePaused',
    series: { [of(paused, update)]: '1x30 0x2 1x30 0x2 1x30' },
    at: 94,
  },
  'a step is done every 20 minutes': {
    alert: 'RolloutOperatorZoneUpdateStuck',
    series: { ...standing, [of(step, update)]: '1x19 2x19 3x19 4x19 5x19 6x19' },
    at: 110,
  },
  'the alarm pauses the update': {
    alert: 'RolloutOperatorZoneUpdateStuck',
    series: { ...standing, [of(paused, update)]: '0 1x120' },
    at: 110,
  },
  'a dry run plans one step': {
    alert: 'RolloutOperatorZoneUpdateStuck',
    series: { ...standing, [of('zau_dryrun_enabled', update)]: '1x121' },
    at: 110,
  },
  'the last update is over, and there is no step': {
    alert: 'RolloutOperatorZoneUpdateStuck',
    series: {
      [of(step, update)]: '0x120',
      [of(old, { ...update, zone: 'a' })]: '0x120',
      [of(paused, update)]: '0x120',
      [of('zau_dryrun_enabled', update)]: '0x120',
    },
    at: 110,
  },
  'one zone lacks healthy pods, and another one for ten minutes': {
    alert: 'RolloutOperatorZonesUnhealthy',
    series: { [of(unhealthyZones, budget)]: '1x5 2x10 1x60' },
    at: 40,
  },
  'a drain is denied, and one pod goes every 20 minutes': {
    alert: 'RolloutOperatorZoneEvictionsDenied',
    series: { [denied]: '0+3x120', [allowed]: '0x19 1x19 2x19 3x19 4x19 5x19' },
    at: 100,
  },
  'the first pod of a zone has just gone, with which the series begins': {
    alert: 'RolloutOperatorZoneEvictionsDenied',
    series: { [denied]: '0+3x120', [allowed]: '_x25 1x90' },
    at: 50,
  },
};
