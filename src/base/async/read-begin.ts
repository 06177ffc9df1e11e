/** Reads `chunks` into `read` until these are `most` bytes or more, or the end, and closes the stream. */
export async function readBegin(
  chunks: AsyncIterable<Uint8Array>,
  most: number,
  read: Uint8Array[],
): Promise<void> {
  let length = 0;
  for await (const chunk of chunks) {
    read.push(chunk);
    length += chunk.length;
    if (length >= most) break;
  }
}
