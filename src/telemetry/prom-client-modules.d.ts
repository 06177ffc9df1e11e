// The modules of prom-client that the program loads one by one: the package as a whole brings metrics of the process and
// all of OpenTelemetry's API with it, a hundred files at every start. They have no types of their own.
declare module 'prom-client/lib/counter.js' {
  import { Counter } from 'prom-client';

  export default Counter;
}
declare module 'prom-client/lib/gauge.js' {
  import { Gauge } from 'prom-client';

  export default Gauge;
}
declare module 'prom-client/lib/histogram.js' {
  import { Histogram } from 'prom-client';

  export default Histogram;
}
declare module 'prom-client/lib/registry.js' {
  import { Registry } from 'prom-client';

  export default Registry;
}
declare module 'prom-client/lib/metrics/heapSizeAndUsed.js' {
  import type { Registry } from 'prom-client';

  /** Declares its metrics in `registry`, measured at each exposition. */
  export default function (registry: Registry): void;
}
declare module 'prom-client/lib/metrics/osMemoryHeap.js' {
  import type { Registry } from 'prom-client';

  /** Declares its metrics in `registry`, measured at each exposition. */
  export default function (registry: Registry): void;
}
declare module 'prom-client/lib/metrics/processMaxFileDescriptors.js' {
  import type { Registry } from 'prom-client';

  /** Declares its metrics in `registry`, measured at each exposition. */
  export default function (registry: Registry): void;
}
declare module 'prom-client/lib/metrics/processOpenFileDescriptors.js' {
  import type { Registry } from 'prom-client';

  /** Declares its metrics in `registry`, measured at each exposition. */
  export default function (registry: Registry): void;
}
declare module 'prom-client/lib/metrics/processStartTime.js' {
  import type { Registry } from 'prom-client';

  /** Declares its metrics in `registry`, measured at each exposition. */
  export default function (registry: Registry): void;
}
declare module 'prom-client/lib/metrics/version.js' {
  import type { Registry } from 'prom-client';

  /** Declares its metrics in `registry`, measured at each exposition. */
  export default function (registry: Registry): void;
}
