// What htmx does not do by itself: focus, the live region, honest messages, and copying the digest.
// Every form and link works without this file.
"use strict";

(() => {
  const QUIET_MS = 10_000;
  let lastSpoken = 0;
  let waiting = 0;

  const announce = (text) => {
    const live = document.getElementById("live");
    if (!live || !text) return;
    window.clearTimeout(waiting);
    waiting = window.setTimeout(() => {
      lastSpoken = Date.now();
      live.textContent = text;
    }, Math.max(0, lastSpoken + QUIET_MS - Date.now()));
  };

  const notice = (title, text) => {
    const place = document.getElementById("notices");
    if (!place) return;
    const box = document.createElement("div");
    const head = document.createElement("strong");
    const line = document.createElement("p");
    box.className = "notice notice-bad";
    box.setAttribute("role", "alert");
    head.textContent = title;
    line.textContent = text;
    box.append(head, line);
    place.replaceChildren(box);
    box.scrollIntoView({ block: "nearest" });
  };

  // True while somebody writes in the item: then nothing is swapped under them.
  const isWriting = (root) =>
    [...root.querySelectorAll("textarea:not([readonly])")].some(
      (area) => area.value !== area.defaultValue || area === document.activeElement,
    );

  const offerCopy = (root) => {
    if (!navigator.clipboard) return;
    for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    const label = button.querySelector("[data-copy-label]");
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      label.textContent = "Copied";
      announce("The full digest is copied.");
    } catch {
      label.textContent = "Select it by hand";
    }
  });

  const isPoll = (event) => event.detail.requestConfig.verb === "get";

  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, target } = event.detail;
    if (xhr.status >= 400 && !xhr.getResponseHeader("HX-Retarget")) {
      event.detail.shouldSwap = false; // not our answer: a whole error page never replaces a part of this one
      return;
    }
    if (isPoll(event) && target.id === "item" && isWriting(target)) event.detail.shouldSwap = false;
    if (target.contains(document.activeElement)) target.dataset.hadFocus = "yes";
  });

  document.addEventListener("htmx:afterSwap", (event) => {
    const root = event.detail.target.isConnected ? event.detail.target : document.getElementById(event.detail.target.id);
    if (!root) return;
    offerCopy(root);
    const told = root.matches("[data-announce]") ? root : root.querySelector("[data-announce]");
    if (told && told.dataset.announce !== announce.last) {
      announce.last = told.dataset.announce;
      announce(told.dataset.announce);
    }
    if (root.querySelector("[data-stale]")) {
      for (const button of document.querySelectorAll("#decision button[name=verdict]")) button.disabled = true;
    }
    const wanted = root.querySelector("[data-focus]");
    if (wanted && !isPoll(event)) wanted.focus();
    else if (event.detail.target.dataset.hadFocus && document.activeElement === document.body)
      root.querySelector("h1[tabindex], h2[tabindex]")?.focus({ preventScroll: true });
  });

  const KEPT = "What you typed is still here. Look at the item before you press again; the same answer never counts twice.";

  document.addEventListener("htmx:responseError", (event) => {
    const { xhr } = event.detail;
    if (isPoll(event) || xhr.getResponseHeader("HX-Retarget")) return;
    notice(`The server could not answer (${xhr.status})`, KEPT);
  });
  document.addEventListener("htmx:sendError", (event) => {
    if (!isPoll(event)) notice("The server was not reached", KEPT);
  });
  document.addEventListener("htmx:timeout", (event) => {
    if (!isPoll(event)) notice("The server did not answer in time", KEPT);
  });

  // The time before something is sent, counted down for the eye only: a live region would speak every second.
  const span = (seconds) => (seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`);
  window.setInterval(() => {
    for (const place of document.querySelectorAll("[data-countdown]")) {
      place.until ??= performance.now() + Number(place.dataset.countdown) * 1000;
      place.textContent = span(Math.max(0, Math.round((place.until - performance.now()) / 1000)));
    }
  }, 1000);

  // Leaving with a text that was not saved asks first.
  let isSending = false;
  document.addEventListener("submit", () => (isSending = true));
  window.addEventListener("beforeunload", (event) => {
    const forms = document.querySelectorAll("form[data-unsaved]");
    const isChanged = (field) => field.defaultValue !== undefined && field.value !== field.defaultValue;
    if (!isSending && [...forms].some((form) => [...form.elements].some(isChanged))) event.preventDefault();
  });

  // A page from the back-forward cache may be stale, or of somebody who has signed out: ask the server.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) window.location.reload();
  });

  document.addEventListener("DOMContentLoaded", () => {
    offerCopy(document);
    document.querySelector("[data-focus]")?.focus();
  });
})();
