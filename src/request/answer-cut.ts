/** Another server broke off a response that was being forwarded. Ours is broken off too; nothing failed here. */
export class AnswerCutError extends Error {
  override readonly name = "AnswerCutError";
}
