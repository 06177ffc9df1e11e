/** Something that is open, and closed at the end. */
export interface Closable {
  close(): Promise<void>;
}

/** Has `resource` closed at the end, also where a later one cannot be opened. */
export type CloseAtEnd = <T extends Closable>(resource: T) => T;

/** Returns what adds to `opened`. */
export function closerOf(opened: Closable[]): CloseAtEnd {
  return (resource) => {
    opened.push(resource);
    return resource;
  };
}
