import { AuthenticationFailure, withAuthenticatedGroup } from "../../access/authentication/authenticator.ts";
import type { TokenAnswer, TokenAuthenticator } from "../../access/authentication/token-authenticator.ts";
import { status } from "../../api/status.ts";
import type { TokenReview, TokenReviewStatus } from "../../api/types/authentication-v1.ts";
import type { Action } from "../../registry/action.ts";
import { action, builtInKind } from "../../registry/kind.ts";
import { userInfoOf } from "./self-subject-review.ts";

/**
 * Finds the user of a token. An invalid token gets an answer, not an error.
 * @param apiAudiences audiences that count if the review names none
 */
function reviewOf(tokens: TokenAuthenticator, apiAudiences: readonly string[]): Action {
  return {
    async run({ namespace }, review) {
      if (namespace !== "") throw status.badRequest("namespace is not allowed on this type: ");
      const { token = "", audiences } = (review as TokenReview).spec ?? {};
      if (token === "") throw status.badRequest("token is required for TokenReview in authentication");
      const asked = audiences === undefined || audiences.length === 0 ? apiAudiences : audiences;
      return { ...review, status: await judged(tokens, token, asked) };
    },
  };
}

/** Gives no reason: a client must not learn from the text what was wrong with a token that it guessed. */
const invalidToken = "invalid bearer token";

export const tokenReview = builtInKind("tokenreviews.authentication.k8s.io", {
  endpoint: action(({ tokens }) => reviewOf(tokens.tokens, tokens.apiAudiences)),
  descriptions: {
    "authentication/v1.TokenReview": { "": "Identifies the user of a token." },
    "authentication/v1.TokenReviewSpec": {
      "": "The question.",
      token: "The token.",
      audiences: "Audiences of the caller; the API server by default.",
    },
    "authentication/v1.TokenReviewStatus": {
      "": "The answer.",
      authenticated: "Whether the token is valid.",
      user: "The user of the token.",
      audiences: "For whom it is valid, among those who asked.",
      error: "Why it could not be checked.",
    },
  },
});

async function judged(tokens: TokenAuthenticator, token: string, asked: readonly string[]): Promise<TokenReviewStatus> {
  let answer: TokenAnswer | undefined;
  try {
    answer = await tokens.authenticateToken(token, asked);
  } catch (error) {
    if (!(error instanceof AuthenticationFailure)) throw error;
  }
  if (answer === undefined) return { user: {}, error: invalidToken };
  const audiences = answer.audiences.length === 0 ? {} : { audiences: [...answer.audiences] };
  return { authenticated: true, user: userInfoOf(withAuthenticatedGroup(answer.user)), ...audiences };
}
