import "./styles.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { queryClient } from "./data/query-client.ts";
import { language } from "./language/translate.ts";
import { router } from "./router.tsx";
import { theme } from "./theme.ts";

document.documentElement.lang = language;

// The CSS variables come from a style sheet, so the policy needs to allow no style elements.
createRoot(document.querySelector("#root")!).render(
  <MantineProvider
    theme={theme}
    defaultColorScheme="auto"
    withCssVariables={false}
    withGlobalClasses={false}
  >
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <Notifications position="bottom-center" />
    </QueryClientProvider>
  </MantineProvider>,
);
