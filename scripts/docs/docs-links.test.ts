import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, test } from 'node:test';
import { type Page, pagesOf, withoutBlocks } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const pages = new Map(pagesOf(root).map((page) => [page.path, page]));

interface Link {
  readonly from: string;
  /** From the root of the checkout. */
  readonly to: string;
  /** Of a heading; empty without. */
  readonly anchor: string;
}

function linksOf({ path, text }: Page): readonly Link[] {
  return [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^https?:/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { from: path, to: file === '' ? path : normalize(join(dirname(path), file)), anchor };
    });
}

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf({ text }: Page): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [, heading = ''] of withoutBlocks(text).matchAll(/^#+ (.+)$/gm)) {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; found.has(anchor); count += 1) anchor = `${slug}-${count}`;
    found.add(anchor);
  }
  return found;
}

function isWhole({ to, anchor }: Link): boolean {
  if (!existsSync(join(root, to))) return false;
  if (anchor === '') return true;
  const page = pages.get(to);
  return page !== undefined && anchorsOf(page).has(anchor);
}

/** A client that follows a link to a folder sees all that is in it. */
function pagesIn(folder: string): readonly string[] {
  return [...pages.keys()].filter((path) => path.startsWith(`${folder}/`));
}

/** Paths of the pages to which links lead from `start`, over any number of others. */
function reachedFrom(start: string): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const path of reached) {
    const page = pages.get(path);
    const led = page === undefined ? pagesIn(path) : linksOf(page).map(({ to }) => to);
    for (const to of led) reached.add(to);
  }
  return reached;
}

/** Pages that a page which the README names leads to, as only its readers need them. */
const furtherPages: readonly string[] = [
  'docs/folders.md',
  'docs/log-messages.md',
  'docs/pinned-pods.md',
  'docs/statefulset-rollout-metrics.md',
  'docs/testing.md',
];

describe('the pages of docs/', () => {
  test('have no link that leads nowhere', () => {
    const links = [...pages.values()].flatMap(linksOf);
    assert.ok(links.length > 250, `${links.length} links`);
    assert.deepEqual(
      links
        .filter((link) => !isWhole(link))
        .map(({ from, to, anchor }) => `${from}: ${to}#${anchor}`),
      [],
    );
  });

  test('are all found by who begins at the README', () => {
    const reached = reachedFrom('README.md');
    assert.deepEqual(
      [...pages.keys()].filter((path) => !reached.has(path)),
      [],
    );
  });

  test('stand in the README where they are about what a user has or does', () => {
    const readme = pages.get('README.md') ?? assert.fail('there is no README.md');
    const named = new Set(linksOf(readme).map(({ to }) => to));
    const top = [...pages.keys()].filter((path) => /^docs\/[^/]+\.md$/.test(path));
    assert.deepEqual(
      top.filter((path) => !named.has(path)),
      furtherPages,
    );
  });
});
