"""The addresses of the pages. What changes something is a post, and answers 405 to everything else."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from approvals.web.views import account, decisions, items, pausing, queue, resolve, verbs, writing
from approvals.web.views.faults import answers

urlpatterns = [
    path("", answers(queue.inbox), name="inbox"),
    path("rooms/<slug:slug>/", answers(queue.room), name="room"),
    path("rooms/<slug:slug>/pause", answers(pausing.pause_room), name="pause_room"),
    path("rooms/<slug:slug>/resume", answers(pausing.resume_room), name="resume_room"),
    path("rooms/<slug:slug>/channels/<slug:channel>/pause", answers(pausing.pause_channel), name="pause_channel"),
    path("rooms/<slug:slug>/channels/<slug:channel>/resume", answers(pausing.resume_channel), name="resume_channel"),
    path("drafts/new", answers(writing.new), name="new"),
    path("drafts/<int:draft_id>/", answers(items.draft), name="draft"),
    path("drafts/<int:draft_id>/edit", answers(writing.edit), name="edit"),
    path("drafts/<int:draft_id>/news", answers(items.news), name="news"),
    path("drafts/<int:draft_id>/delivery", answers(items.delivery), name="delivery"),
    path("drafts/<int:draft_id>/revisions/<int:number>.json", answers(items.canonical), name="canonical"),
    path("drafts/<int:draft_id>/keep-comment", answers(items.keep_comment), name="keep_comment"),
    path("drafts/<int:draft_id>/take-back", answers(decisions.take_back), name="take_back"),
    path("drafts/<int:draft_id>/submit", answers(verbs.submit), name="submit"),
    path("drafts/<int:draft_id>/withdraw", answers(verbs.withdraw), name="withdraw"),
    path("drafts/<int:draft_id>/revoke", answers(verbs.revoke), name="revoke"),
    path("drafts/<int:draft_id>/dispatch", answers(verbs.dispatch), name="dispatch"),
    path("drafts/<int:draft_id>/retract", answers(verbs.retract), name="retract"),
    path("drafts/<int:draft_id>/retry", answers(verbs.retry), name="retry"),
    path("drafts/<int:draft_id>/cancel", answers(verbs.cancel), name="cancel"),
    path("drafts/<int:draft_id>/look-again", answers(verbs.look_again), name="look_again"),
    path("drafts/<int:draft_id>/resolve", answers(resolve.resolve), name="resolve"),
    path("drafts/<int:draft_id>/standing", answers(items.standing), name="standing"),
    path("drafts/<int:draft_id>/read-target", answers(verbs.read_target), name="read_target"),
    path("accounts/login/", account.LogIn.as_view(), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
]
