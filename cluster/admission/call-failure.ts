/** A webhook that could not be asked, or whose answer is none (AD-8); the message is what follows the webhook's name. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
}
