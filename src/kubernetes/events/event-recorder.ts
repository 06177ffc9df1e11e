/** The object that an Event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string;
}

/** One fact worth a Kubernetes Event. */
export interface EventNote {
  readonly about: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** One PascalCase word. */
  readonly reason: string;
  readonly message: string;
}

/**
 * Writes Kubernetes Events in the background. Never blocks and never throws: notes of one subject and reason
 * are aggregated, a refused write is one log line and a gauge (D-1), and a full buffer drops the oldest, counted.
 */
export interface EventRecorder {
  record(note: EventNote): void;
  /** Resolves when everything recorded so far was written or given up. */
  flush(): Promise<void>;
}
