export type AuthorizationMode = "ABAC" | "AlwaysAllow" | "AlwaysDeny" | "Node" | "RBAC" | "Webhook";

/** The authorization options of the command line, checked for contradictions. */
export interface AuthorizationOptions {
  /** The modes in order; empty if a file decides. */
  readonly modes: readonly AuthorizationMode[];
  /** File of an AuthorizationConfiguration. */
  readonly configFile: string | undefined;
  /** File of ABAC policies. */
  readonly policyFile: string | undefined;
  readonly webhook: {
    /** Path of a kubeconfig. */
    readonly configFile: string | undefined;
    readonly version: "v1" | "v1beta1";
    readonly authorizedTtlMs: number;
    readonly unauthorizedTtlMs: number;
  };
}
