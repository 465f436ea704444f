export type AuthorizationMode = "ABAC" | "AlwaysAllow" | "AlwaysDeny" | "Node" | "RBAC" | "Webhook";

/** What the command line says about authorization, free of contradictions. */
export interface AuthorizationOptions {
  /** In their order; empty where a file decides. */
  readonly modes: readonly AuthorizationMode[];
  /** An AuthorizationConfiguration. */
  readonly configFile: string | undefined;
  /** Policies of ABAC. */
  readonly policyFile: string | undefined;
  readonly webhook: {
    /** A kubeconfig. */
    readonly configFile: string | undefined;
    readonly version: "v1" | "v1beta1";
    readonly authorizedTtlMs: number;
    readonly unauthorizedTtlMs: number;
  };
}
