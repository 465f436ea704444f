/** Size limit of answers. A longer one counts as failed. */
export const answerBytesMax = 1024 * 1024;

/** An answer that is too long. Another attempt would not help. */
export class AnswerTooLongError extends Error {
  constructor() {
    super(`the answer is longer than ${answerBytesMax} bytes`);
    this.name = "AnswerTooLongError";
  }
}

export interface Answer {
  readonly code: number;
  readonly body: Uint8Array;
}

/** A server that takes and returns JSON. */
export interface JsonEndpoint {
  /** Posts a document. Rejects if no answer comes, if it is too long, and if `signal` aborts. */
  post(body: string, signal: AbortSignal): Promise<Answer>;
}

export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
  readonly rejectUnauthorized: boolean;
}

export interface PostOptions {
  readonly body: string;
  readonly signal: AbortSignal;
  readonly tls: TlsOptions;
  readonly authorization: string | undefined;
}

/** Redirects are not followed: our credentials only go where the operator said. */
export async function postJson(url: string, { body, signal, tls, authorization }: PostOptions): Promise<Answer> {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const response = await fetch(url, {
    method: "POST",
    body,
    signal,
    redirect: "manual",
    headers: authorization === undefined ? headers : { ...headers, authorization },
    tls,
  });
  return { code: response.status, body: await readBounded(response) };
}

/** @throws Error for a code other than 200, and for a body that is not JSON */
export async function getJson(url: string, { signal, tls }: Pick<PostOptions, "signal" | "tls">): Promise<unknown> {
  const response = await fetch(url, { signal, redirect: "manual", headers: { accept: "application/json" }, tls });
  const body = await readBounded(response);
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
  return JSON.parse(new TextDecoder().decode(body));
}

async function readBounded(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > answerBytesMax) throw new AnswerTooLongError();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
