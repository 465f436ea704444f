/** Uses the server of KUBECONFIG through both Java clients. Prints a line per check, and fails if one fails. */
public final class Clients {
  interface Check {
    void run() throws Exception;
  }

  private static int failed = 0;

  static void check(String name, Check check) {
    try {
      check.run();
      System.out.println("passed " + name);
    } catch (Exception | AssertionError error) {
      failed++;
      System.out.println("FAILED " + name);
      error.printStackTrace();
    }
  }

  static void require(boolean holds, Object seen) {
    if (!holds) throw new AssertionError(String.valueOf(seen));
  }

  public static void main(String[] arguments) throws Exception {
    Fabric8Checks.run();
    OfficialChecks.run();
    System.exit(failed == 0 ? 0 : 1);
  }
}
