import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CycloneDx, epochOf, narrowCycloneDx, narrowSpdx, type Spdx } from './sbom.ts';

/** As npm lists a program `own` that has `kept`, and a tool that has `kept`, too. */
const spdx: Spdx = {
  spdxVersion: 'SPDX-2.3',
  documentNamespace: 'http://spdx.org/spdxdocs/own-1.0.0-8555baa6-c573-428d-9eb1-91c0da85ce03',
  documentDescribes: ['SPDXRef-own'],
  creationInfo: { created: '2026-11-22T16:44:38.686Z', creators: ['Tool: npm/cli-11.19.1'] },
  packages: [
    { SPDXID: 'SPDXRef-own', name: 'own', versionInfo: '1.0.0' },
    { SPDXID: 'SPDXRef-kept', name: 'kept', versionInfo: '2.0.0' },
    { SPDXID: 'SPDXRef-kept-old', name: 'kept', versionInfo: '1.9.0' },
    { SPDXID: 'SPDXRef-tool', name: 'tool', versionInfo: '3.0.0' },
  ],
  relationships: [
    {
      spdxElementId: 'SPDXRef-DOCUMENT',
      relatedSpdxElement: 'SPDXRef-own',
      relationshipType: 'DESCRIBES',
    },
    {
      spdxElementId: 'SPDXRef-kept',
      relatedSpdxElement: 'SPDXRef-own',
      relationshipType: 'DEPENDENCY_OF',
    },
    {
      spdxElementId: 'SPDXRef-tool',
      relatedSpdxElement: 'SPDXRef-own',
      relationshipType: 'DEV_DEPENDENCY_OF',
    },
    {
      spdxElementId: 'SPDXRef-kept',
      relatedSpdxElement: 'SPDXRef-tool',
      relationshipType: 'DEPENDENCY_OF',
    },
  ],
};

const cycloneDx: CycloneDx = {
  specVersion: '1.5',
  serialNumber: 'urn:uuid:72e2ecfd-3509-4a3c-88a5-ae84bc637f87',
  metadata: {
    timestamp: '2026-11-22T16:44:39.859Z',
    tools: [{ vendor: 'npm', name: 'cli' }],
    component: { 'bom-ref': 'own@1.0.0', name: 'the-folder', version: '1.0.0' },
  },
  components: [
    { 'bom-ref': 'kept@2.0.0', name: 'kept', version: '2.0.0' },
    { 'bom-ref': 'tool@3.0.0', name: 'tool', version: '3.0.0' },
  ],
  dependencies: [
    { ref: 'own@1.0.0', dependsOn: ['kept@2.0.0', 'tool@3.0.0'] },
    { ref: 'tool@3.0.0', dependsOn: ['kept@2.0.0'] },
    { ref: 'kept@2.0.0', dependsOn: [] },
  ],
};

const contents = { packages: new Set(['kept@2.0.0']), epoch: 1_700_000_000 };
const own = { name: 'own', version: '1.0.0' };
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;

describe('narrowSpdx()', () => {
  test('keeps the program and what is in it, in the version that is', () => {
    const { packages, relationships } = narrowSpdx(spdx, contents);
    assert.deepEqual(
      packages.map(({ SPDXID }) => SPDXID),
      ['SPDXRef-own', 'SPDXRef-kept'],
    );
    assert.deepEqual(
      relationships.map(({ spdxElementId }) => spdxElementId),
      ['SPDXRef-DOCUMENT', 'SPDXRef-kept'],
    );
  });

  test('tells nothing of the moment and the machine, so that it is the same again', () => {
    const { creationInfo, documentNamespace } = narrowSpdx(spdx, contents);
    assert.deepEqual(creationInfo, {
      created: '2023-11-14T22:13:20Z',
      creators: ['Tool: npm sbom'],
    });
    assert.match(documentNamespace, /^http:\/\/spdx\.org\/spdxdocs\/own-1\.0\.0-/);
    assert.match(documentNamespace, uuid);
    const later = {
      ...spdx,
      documentNamespace: 'http://spdx.org/spdxdocs/own-1.0.0-00000000-0000-4000-8000-000000000000',
    };
    assert.equal(narrowSpdx(later, contents).documentNamespace, documentNamespace);
  });

  test('names other contents otherwise', () => {
    const other = narrowSpdx(spdx, { ...contents, packages: new Set(['kept@1.9.0']) });
    assert.notEqual(other.documentNamespace, narrowSpdx(spdx, contents).documentNamespace);
  });

  test('refuses to leave out a package that npm does not know', () => {
    assert.throws(() => narrowSpdx(spdx, { ...contents, packages: new Set(['lost@1.0.0']) }), {
      message: 'npm sbom does not list lost@1.0.0',
    });
  });
});

describe('narrowCycloneDx()', () => {
  test('keeps what is in the program, and says whose program it is', () => {
    const { components, dependencies, metadata, serialNumber } = narrowCycloneDx(
      cycloneDx,
      contents,
      own,
    );
    assert.deepEqual(
      components.map(({ name }) => name),
      ['kept'],
    );
    assert.deepEqual(dependencies, [
      { ref: 'own@1.0.0', dependsOn: ['kept@2.0.0'] },
      { ref: 'kept@2.0.0', dependsOn: [] },
    ]);
    assert.equal(metadata.component.name, 'own');
    assert.equal(metadata.timestamp, '2023-11-14T22:13:20Z');
    assert.match(serialNumber, /^urn:uuid:/);
    assert.match(serialNumber, uuid);
  });

  test('refuses to leave out a package that npm does not know', () => {
    const lost = { ...contents, packages: new Set(['lost@1.0.0']) };
    assert.throws(() => narrowCycloneDx(cycloneDx, lost, own), {
      message: 'npm sbom does not list lost@1.0.0',
    });
  });
});

describe('epochOf()', () => {
  test('is that of SOURCE_DATE_EPOCH, and 1970 without it', () => {
    assert.equal(epochOf({ SOURCE_DATE_EPOCH: '1700000000' }), 1_700_000_000);
    assert.equal(epochOf({ SOURCE_DATE_EPOCH: '' }), 0);
    assert.equal(epochOf({}), 0);
  });

  for (const text of ['yesterday', '-1', '1.5', '2026-11-22'])
    test(`refuses "${text}"`, () => {
      assert.throws(() => epochOf({ SOURCE_DATE_EPOCH: text }), {
        message: `SOURCE_DATE_EPOCH must be whole seconds since 1970: got "${text}"`,
      });
    });
});
