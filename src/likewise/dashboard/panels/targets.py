"""Targets: where matches go out by themselves; a form to set one, and how each fares."""

from __future__ import annotations

from html import escape

from nicegui import ui

from likewise.api.sinks import TargetDetails
from likewise.client.targets import default_target_id, parse_target
from likewise.dashboard.view_state import PageState, clock
from likewise.dashboard.widgets import attribute_text, html, icon_button, list_row, title
from likewise.errors import LikewiseError

FORMS = {
    "json": "the delivery, as JSON",
    "event": "the event alone",
    "cloudevents": "a CloudEvent",
    "plain": "one sentence",
    "slack": "a sentence for Slack",
    "discord": "a sentence for Discord",
    "ntfy": "a sentence for ntfy",
    "telegram": "a sentence for Telegram",
    "home-assistant": "a message for Home Assistant",
}


class TargetsPanel:
    """A form, and the targets that there are: last success, last error, what waits, what is dead."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._shown: list[TargetDetails] | None = None
        with ui.column().classes("lw-panel w-full"):
            title("Where matches go by themselves")
            with ui.row().classes("items-end gap-2 w-full"):
                self._subscription = ui.select({}, label="Matches of").props("dense outlined").classes("w-48")
                self._address = (
                    ui.input("Address", placeholder="https://example.org/matches or mqtt://host/topic")
                    .props("dense outlined stack-label")
                    .classes("w-80")
                )
                self._form = ui.select(FORMS, label="What is sent", value="json")
                self._form.props("dense outlined").classes("w-48")
                self._because = ui.checkbox("and why")
                ui.button("Send there", on_click=self._set).props("no-caps")
            self._list = ui.column().classes("w-full gap-0 lw-rows").mark("targets")

    async def show(self) -> None:
        """Bring everything up to date."""
        every = self._viewing.feed.subscriptions
        subscriptions = {f"{each.subscriber}\n{each.id}": f"{each.id} for {each.subscriber}" for each in every}
        if self._subscription.options != subscriptions:
            chosen = self._subscription.value
            self._subscription.set_options(
                subscriptions, value=chosen if chosen in subscriptions else next(iter(subscriptions), None)
            )
        try:
            targets = await self._viewing.api.targets()
        except LikewiseError:
            return  # the banner says that the broker is away; without the scope there is nothing to see
        if targets == self._shown:
            return
        self._shown = targets
        self._list.clear()
        with self._list:
            if not targets:
                ui.label("Nowhere: whoever subscribes reads them.").classes("lw-soft")
            for each in targets:
                self._target(each)

    def _target(self, shown: TargetDetails) -> None:
        state = shown.state
        name = attribute_text(f"{shown.id} of {shown.subscription}")
        parts = [f"last accepted {clock(state.last_success)}" if state.last_success else "nothing accepted yet"]
        parts += [f"{state.waiting:,} wait", f"{state.dead:,} dead"]
        where = f"{shown.address} {shown.topic}".strip()
        error = f"<div class='lw-line lw-bad'>{escape(state.last_error[:300])}</div>" if state.last_error else ""
        with list_row():
            html(
                f"<div class='lw-head'><span class='lw-name'>{escape(shown.id)}</span>"
                f"<span>{escape(shown.subscription)} for {escape(shown.subscriber)}</span></div>"
                f"<code class='lw-line'>{escape(where)}</code>"
                f"<div class='lw-line'>{escape(' · '.join(parts))}</div>{error}"
            ).style("flex: 1; min-width: 0")
            if state.dead:
                icon_button(
                    "replay",
                    f"Try the dead letters of {name} again",
                    lambda: self._do(self._viewing.api.retry_target(shown)),
                )
            icon_button("delete", f"Remove {name}", lambda: self._do(self._viewing.api.remove_target(shown)))

    async def _set(self) -> None:
        subscriber, _, subscription = str(self._subscription.value or "").partition("\n")
        if not subscription:
            ui.notify("Save a subscription first.", type="warning", position="top")
            return
        try:
            target = parse_target((self._address.value or "").strip())
        except LikewiseError as error:
            ui.notify(str(error), type="negative", position="top")
            return
        more = {"form": self._form.value, "because": bool(self._because.value)}
        setting = self._viewing.api.set_target(subscriber, subscription, default_target_id(target), target, more)
        made = await self._viewing.ask(setting)
        if made is None:
            return
        self._address.set_value("")
        ui.notify(f"Matches of {subscription} go to {made.address}.", type="positive", position="top")
        await self.show()
        if made.secret:
            show_secret(made.secret)

    async def _do(self, doing: object) -> None:
        await self._viewing.ask(doing)  # type: ignore[arg-type]
        await self.show()


def show_secret(secret: str) -> None:
    """Show the secret that a target signs with, once."""
    with ui.dialog() as once, ui.card():
        ui.label("It signs what it sends with this secret, which is shown this once:")
        html(f"<code class='lw-mono'>{escape(secret)}</code>").mark("secret")
        ui.button("I have kept it", on_click=once.close).props("no-caps")
    once.open()
