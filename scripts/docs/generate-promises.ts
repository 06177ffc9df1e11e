/** Writes docs/rules/promises-shown.md from test/gate/promises.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisesPage } from './promises-page.ts';

writeFileSync(join(import.meta.dirname, '../../docs/rules/promises-shown.md'), promisesPage());
