import { join } from "node:path";
import * as esbuild from "esbuild";

/** The CSS variables of the console's theme, as a style sheet. */
export async function writeThemeVariables(): Promise<string> {
  const { outputFiles } = await esbuild.build({
    stdin: {
      contents: `
import { convertCssVariables, DEFAULT_THEME, defaultCssVariablesResolver, mergeMantineTheme }
  from "@mantine/core";
import { theme } from "./theme.ts";
const merged = mergeMantineTheme(DEFAULT_THEME, theme);
export default convertCssVariables(defaultCssVariablesResolver(merged), ":root");`,
      resolveDir: join(import.meta.dirname, "../../shared/console"),
    },
    bundle: true,
    format: "esm",
    platform: "node",
    write: false,
    logLevel: "error",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire("/");',
    },
  });
  const code = Buffer.from(outputFiles[0]!.contents).toString("base64");
  const module: { default: string } = await import(`data:text/javascript;base64,${code}`);
  return module.default;
}
