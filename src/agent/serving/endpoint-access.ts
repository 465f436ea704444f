import { anonymousAuthenticator } from "../../access/authentication/anonymous.ts";
import { type Authenticator, unionAuthenticator } from "../../access/authentication/authenticator.ts";
import { bearerTokenAuthenticator } from "../../access/authentication/bearer-token.ts";
import { clientCertificateAuthenticator } from "../../access/authentication/client-certificate.ts";
import { tokenWebhook } from "../../access/authentication/token-webhook.ts";
import { resourceText } from "../../access/authorization/attributes.ts";
import type { Authorizer } from "../../access/authorization/authorizer.ts";
import { webhookAuthorizer } from "../../access/authorization/webhook/webhook-authorizer.ts";
import { StatusError, TextError } from "../../api/status.ts";
import type { Client } from "../../client/client.ts";
import type { Clock } from "../../process/clock.ts";
import type { IncomingRequest } from "../../request/exchange.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { nodeAttributes } from "./node-attributes.ts";
import type { RequestTarget } from "./request-target.ts";
import { accessReviews, reviewEndpoint, tokenReviews } from "./review-endpoint.ts";

/** The settings of access to the endpoint. Client certificates are accepted when the listener has authorities. */
export interface AccessOptions {
  /** `--anonymous-auth` */
  readonly anonymous: boolean;
  /** `--authentication-token-webhook` */
  readonly tokenWebhook: boolean;
  readonly authorizationMode: "Webhook" | "AlwaysAllow";
  /** Cache times of answers, upstream's by default. */
  readonly tokenTtlMs?: number | undefined;
  readonly authorizedTtlMs?: number | undefined;
  readonly unauthorizedTtlMs?: number | undefined;
}

export interface AccessParts {
  /** The client that asks the API server for reviews. */
  readonly client: Client;
  readonly clock: Clock;
  /** Called with the reason for a refused credential or a failed review, never with the credential. */
  readonly onFailure: (reason: string) => void;
}

export interface EndpointAccess {
  /** @throws TextError 401 */
  authenticate(request: IncomingRequest): Promise<UserInfo>;
  /** @throws TextError 403, or 500 if the API server does not decide */
  authorize(user: UserInfo, method: string, target: RequestTarget, nodeName: string): Promise<void>;
}

const tokenTtlMsDefault = 2 * 60_000;
const authorizedTtlMsDefault = 5 * 60_000;
const unauthorizedTtlMsDefault = 30_000;
const reviewTimeoutMs = 10_000;

/** Decides who may use the endpoint. */
export function endpointAccess(options: AccessOptions, { client, clock, onFailure }: AccessParts): EndpointAccess {
  const authenticators: Authenticator[] = [clientCertificateAuthenticator(clock)];
  if (options.tokenWebhook) {
    const tokens = tokenWebhook({
      endpoint: reviewEndpoint(client, tokenReviews),
      version: "v1",
      cacheTtlMs: options.tokenTtlMs ?? tokenTtlMsDefault,
      apiAudiences: [],
      clock,
    });
    authenticators.push(bearerTokenAuthenticator(tokens));
  }
  const fallback = options.anonymous ? anonymousAuthenticator() : undefined;
  const authenticator = unionAuthenticator(authenticators, fallback, onFailure);
  const authorizer = options.authorizationMode === "Webhook" ? reviewingAuthorizer(options, client, clock) : undefined;
  return {
    async authenticate(request) {
      try {
        return await authenticator.authenticate(request);
      } catch (error) {
        if (!(error instanceof StatusError)) onFailure((error as Error).message);
        throw new TextError(401, "Unauthorized");
      }
    },
    async authorize(user, method, target, nodeName) {
      if (authorizer === undefined) return;
      const wanted = nodeAttributes(method, target, nodeName);
      for (const attributes of wanted) {
        const subject = `user=${user.name}, verb=${attributes.verb}, resource=nodes`;
        try {
          if ((await authorizer.authorize(user, attributes)).kind === "allow") return;
        } catch (error) {
          onFailure(`${resourceText(attributes)}: ${(error as Error).message}`);
          throw new TextError(500, `Authorization error (${subject}, subresource=${attributes.subresource})`);
        }
      }
      const [{ verb } = { verb: "" }] = wanted;
      const names = wanted.map(({ subresource }) => subresource).join(" ");
      throw new TextError(
        403,
        `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${names}])\n`,
      );
    },
  };
}

function reviewingAuthorizer(options: AccessOptions, client: Client, clock: Clock): Authorizer {
  return webhookAuthorizer({
    name: "API server",
    endpoint: reviewEndpoint(client, accessReviews),
    clock,
    version: "v1",
    selectors: false,
    authorizedTtlMs: options.authorizedTtlMs ?? authorizedTtlMsDefault,
    unauthorizedTtlMs: options.unauthorizedTtlMs ?? unauthorizedTtlMsDefault,
    timeoutMs: reviewTimeoutMs,
    failurePolicy: "NoOpinion",
    conditions: [],
  });
}
