import assert from 'node:assert/strict';
import { test } from 'node:test';
import { span } from './styled-line.ts';
import { LivePicture } from './terminal.ts';

class Output {
  readonly written: string[] = [];
  columns = 10;
  rows = 5;

  write(text: string): void {
    this.written.push(text);
  }
}

const hide = '\u001B[?25l';
const show = '\u001B[?25h';
const toEnd = '\u001B[K\n';
const below = '\u001B[J';

test('LivePicture draws below what is there, then over itself, and gives the cursor back', () => {
  const output = new Output();
  const picture = new LivePicture(output, false);
  picture.draw([[span('one')], [span('two')]]);
  picture.draw([[span('three')]]);
  picture.close();
  picture.close();
  assert.deepEqual(output.written, [
    `${hide}one${toEnd}two${toEnd}${below}`,
    `\r\u001B[2Athree${toEnd}${below}`,
    show,
  ]);
});

test('LivePicture writes nothing when nothing changed', () => {
  const output = new Output();
  const picture = new LivePicture(output, false);
  picture.draw([[span('one')]]);
  picture.draw([[span('one')]]);
  assert.equal(output.written.length, 1);
});

test('LivePicture goes up over lines that a narrower terminal has wrapped', () => {
  const output = new Output();
  const picture = new LivePicture(output, false);
  picture.draw([[span('123456789')], []]);
  output.columns = 4;
  picture.draw([[span('new')]]);
  assert.equal(output.written[1], `\r\u001B[4Anew${toEnd}${below}`);
});

test('LivePicture leaves a column and a row free', () => {
  assert.deepEqual(new LivePicture(new Output(), false).size, { columns: 9, rows: 4 });
});

test('LivePicture leaves the cursor alone when nothing was drawn', () => {
  const output = new Output();
  new LivePicture(output, false).close();
  assert.deepEqual(output.written, []);
});
