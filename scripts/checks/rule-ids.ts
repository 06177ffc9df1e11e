/** Which words of the tree are ids of rules, and which only look like one. All lists are closed. */

const promises =
  'EXCL MAXU REV BUDG WRIT SPLIT LOST GATE SCAL HOOK LIVE QUIE CRASH SWEEP SIM E2E LOAD FUZZ INCIDENT';
const groups = 'RC SC DD IN FL EN LG PR ME K8 KW';
const zones = 'ZAU ZDB EV OPS W K P';
const percent = 'A B C E F G H T CONSUL';
const found = 'S R X';
const cluster = 'MS SR ST CK HT ER OB LW PA SU AD CR TB SS PD GC KU CL EM FI PF FT LN';

/** What is before the number of a rule. docs/rules/README.md says what each family is about. */
export const families: ReadonlySet<string> = new Set(
  [promises, 'D', groups, zones, percent, found, cluster].flatMap((line) => line.split(' ')),
);

/** What has the shape of an id, and is the name of something else in the world. */
export const otherNames: ReadonlySet<string> = new Set(
  'UTF-8 UTF-16 SHA-1 SHA-256 P-256 FNV-1a SPDX-2 ECMA-262 DNS-1123'.split(' '),
);

/** A letter and a number that are no id: the first instant of a test, the engine below Node, and half of a family. */
export const otherLetters: ReadonlySet<string> = new Set(['T0', 'V8', 'K8']);
