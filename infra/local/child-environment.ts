// The environment of child processes that need no setting of the service. The environment of this
// process holds secrets, such as the keys of Stripe and of the system sender.

const neededNames = [
  "PATH",
  "HOME",
  "LANG",
  "TMPDIR",
  "JAVA_HOME",
  "NODE_COMPILE_CACHE",
  // Windows
  "SYSTEMROOT",
  "WINDIR",
  "PATHEXT",
  "TEMP",
  "TMP",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
];

/** On Windows, the case of names does not matter. */
export function childEnvironment(
  env: Record<string, string | undefined> = process.env,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const isNeeded = (name: string) =>
    neededNames.includes(platform === "win32" ? name.toUpperCase() : name);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && isNeeded(name) ? [[name, value]] : [],
    ),
  );
}
