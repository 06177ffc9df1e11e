import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Problem } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import type { PodSelector, Requirement } from './selector.ts';

/** A selector as far as it could be read. */
export interface ReadSelector {
  /** What is wrong with a part of it is left out, so that it selects no pod less than was meant. */
  readonly selector: PodSelector;
  /** The first thing that is wrong; undefined where nothing is. */
  readonly problem: Problem | undefined;
}

const namePattern = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const domainPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const longestDomain = 253;

/**
 * Reads a label selector with the checks of Kubernetes. Total.
 *
 * @param path where it is, for the problem
 */
export function parseSelector(value: JsonValue | undefined, path: string): ReadSelector {
  if (value === undefined || value === null) return { selector: undefined, problem: undefined };
  const reader = new Reader();
  if (!isJsonObject(value)) {
    reader.refuse(path, 'must be a label selector', value);
  } else {
    reader.matchLabels(value, `${path}.matchLabels`);
    reader.matchExpressions(value, `${path}.matchExpressions`);
  }
  return { selector: reader.requirements, problem: reader.problem };
}

class Reader {
  readonly requirements: Requirement[] = [];
  problem: Problem | undefined;

  refuse(path: string, wanted: string, value: JsonValue | undefined): void {
    this.problem ??= { path, message: `${wanted}: got ${shown(value)}` };
  }

  matchLabels(selector: JsonObject, path: string): void {
    const labels = selector['matchLabels'] ?? {};
    if (!isJsonObject(labels)) {
      this.refuse(path, 'must be an object', labels);
      return;
    }
    for (const [key, value] of Object.entries(labels)) {
      const at = `${path}[${quoted(key)}]`;
      if (!this.#isKey(key, at)) continue;
      if (typeof value !== 'string' || !isLabelValue(value)) {
        this.refuse(at, 'must be the value of a label', value);
      } else this.requirements.push({ operator: 'In', key, values: new Set([value]) });
    }
  }

  matchExpressions(selector: JsonObject, path: string): void {
    const expressions = selector['matchExpressions'] ?? [];
    if (!isJsonArray(expressions)) {
      this.refuse(path, 'must be a list', expressions);
      return;
    }
    for (const [index, expression] of expressions.entries()) {
      const at = `${path}[${index}]`;
      if (isJsonObject(expression)) this.#expression(expression, at);
      else this.refuse(at, 'must be an object', expression);
    }
  }

  #expression({ key, operator, values }: JsonObject, path: string): void {
    if (!this.#isKey(key, `${path}.key`)) return;
    switch (operator) {
      case 'In':
      case 'NotIn': {
        const read = this.#values(values, `${path}.values`);
        if (read !== undefined) this.requirements.push({ operator, key, values: read });
        return;
      }
      case 'Exists':
      case 'DoesNotExist':
        if (isEmpty(values)) this.requirements.push({ operator, key });
        else this.refuse(`${path}.values`, `must be empty with operator ${operator}`, values);
        return;
      default:
        this.refuse(`${path}.operator`, 'must be In, NotIn, Exists or DoesNotExist', operator);
    }
  }

  #values(values: JsonValue | undefined, path: string): ReadonlySet<string> | undefined {
    if (!isJsonArray(values) || values.length === 0) {
      this.refuse(path, 'must be a list that is not empty with operators In and NotIn', values);
      return undefined;
    }
    const texts = values.filter((value) => typeof value === 'string');
    if (texts.length === values.length && texts.every(isLabelValue)) return new Set(texts);
    const wrong = values.find((value) => typeof value !== 'string' || !isLabelValue(value));
    this.refuse(path, 'must be values of labels', wrong);
    return undefined;
  }

  #isKey(key: JsonValue | undefined, path: string): key is string {
    if (typeof key === 'string' && isLabelKey(key)) return true;
    this.refuse(path, 'must be the key of a label', key);
    return false;
  }
}

function isEmpty(values: JsonValue | undefined): boolean {
  return values === undefined || values === null || (isJsonArray(values) && values.length === 0);
}

function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/');
  const domain = key.slice(0, Math.max(0, slash));
  const hasDomain = domain.length <= longestDomain && domainPattern.test(domain);
  return (slash < 0 || hasDomain) && namePattern.test(key.slice(slash + 1));
}

function isLabelValue(value: string): boolean {
  return value === '' || namePattern.test(value);
}

function shown(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return 'nothing';
  return quoted(typeof value === 'string' ? value : JSON.stringify(value));
}
