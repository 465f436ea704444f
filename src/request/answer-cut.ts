/** Another server broke off an answer that was being passed on. The client sees the same of ours; nothing failed here. */
export class AnswerCutError extends Error {
  override readonly name = "AnswerCutError";
}
