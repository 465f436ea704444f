import { randomBytes } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { textOf } from "../../api/json-reading.ts";
import type { JsonEndpoint } from "../../client/json-endpoint.ts";
import type { Clock } from "../../process/clock.ts";
import { RecentMap } from "../../process/recent-map.ts";
import { AuthenticationFailure } from "./authenticator.ts";
import { commonAudiences, type TokenAnswer, type TokenAuthenticator } from "./token-authenticator.ts";

const timeoutMs = 30_000;
const keptAnswersMax = 4_096;
/**
 * Maximum number of questions in progress. Further tokens are rejected without asking, because tokens can be made up
 * faster than a service answers.
 */
const questionsMax = 512;

export interface TokenWebhookOptions {
  readonly endpoint: JsonEndpoint;
  readonly version: "v1" | "v1beta1";
  readonly cacheTtlMs: number;
  /** Audiences of an answer that has none. */
  readonly apiAudiences: readonly string[];
  readonly clock: Clock;
}

interface Kept {
  readonly answer: TokenAnswer | undefined;
  readonly untilMs: number;
}

/**
 * Authenticates tokens by TokenReview. Caches answers by a digest of token and audiences, for unknown tokens too, but not
 * failed requests.
 */
export function tokenWebhook(options: TokenWebhookOptions): TokenAuthenticator {
  const { clock, cacheTtlMs } = options;
  const salt = randomBytes(32).toString("base64");
  const kept = new RecentMap<string, Kept>(keptAnswersMax);
  /** Questions in progress, so that the same one is not asked twice at a time. */
  const asking = new Map<string, Promise<TokenAnswer | undefined>>();

  return {
    authenticateToken(token, audiences) {
      const key = Bun.SHA256.hash(`${salt}${JSON.stringify([token, audiences])}`, "base64");
      const known = kept.get(key);
      if (known !== undefined && known.untilMs > clock.steadyMs()) return known.answer;
      const running = asking.get(key);
      if (running !== undefined) return running;
      if (asking.size >= questionsMax) throw failed("too many tokens are being reviewed");
      const question = ask(options, token, audiences)
        .then((answer) => keep(key, answer))
        .finally(() => asking.delete(key));
      asking.set(key, question);
      return question;
    },
  };

  function keep(key: string, answer: TokenAnswer | undefined): TokenAnswer | undefined {
    if (cacheTtlMs > 0) kept.set(key, { answer, untilMs: clock.steadyMs() + cacheTtlMs });
    return answer;
  }
}

/** Asks the service. @throws AuthenticationFailure for an invalid answer, which says nothing about the token */
async function ask(
  { endpoint, version, apiAudiences }: TokenWebhookOptions,
  token: string,
  audiences: readonly string[],
): Promise<TokenAnswer | undefined> {
  const apiVersion = `authentication.k8s.io/${version}`;
  const review = { kind: "TokenReview", apiVersion, metadata: {}, spec: { token, audiences }, status: { user: {} } };
  let given: JsonObject;
  try {
    const { code, body } = await endpoint.post(JSON.stringify(review), AbortSignal.timeout(timeoutMs));
    if (code < 200 || code > 299) throw new Error(`code ${code}`);
    given = statusOf(JSON.parse(new TextDecoder().decode(body)));
  } catch (error) {
    throw failed((error as Error).message);
  }
  if (given["authenticated"] !== true) return undefined;
  const meant = given["audiences"] === undefined ? apiAudiences : texts(given["audiences"]);
  const common = commonAudiences(audiences, meant);
  if (audiences.length > 0 && common.length === 0) return undefined;
  const user = isJsonObject(given["user"]) ? given["user"] : {};
  const name = textOf(user["username"]);
  if (name === "") throw failed("its answer does not name a user");
  const extra = Object.entries(isJsonObject(user["extra"]) ? user["extra"] : {});
  return {
    user: {
      name,
      uid: textOf(user["uid"]),
      groups: texts(user["groups"]),
      extra: new Map(extra.map(([name, values]) => [name, texts(values)])),
    },
    audiences: common,
  };
}

function failed(why: string): AuthenticationFailure {
  return new AuthenticationFailure(`the token review service failed: ${why}`, { decisive: false });
}

function statusOf(review: unknown): JsonObject {
  const status = isJsonObject(review as JsonValue) ? (review as JsonObject)["status"] : undefined;
  if (!isJsonObject(status)) throw new Error("its answer is not a TokenReview");
  return status;
}

function texts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
