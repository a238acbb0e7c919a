"""UI trees: panels and results return these nodes; the page renders them, no model ever sees them.

A node is `{"type", "props"}`. There is a constructor for every node the page draws, with the props
it knows; `Node(type, **props)` makes any.
"""

from __future__ import annotations

from .display import AgentPresence as AgentPresence
from .display import Alert as Alert
from .display import Audio as Audio
from .display import Avatar as Avatar
from .display import Badge as Badge
from .display import Canvas as Canvas
from .display import Chart as Chart
from .display import Code as Code
from .display import DataColumn as DataColumn
from .display import DataTable as DataTable
from .display import Empty as Empty
from .display import Error as Error
from .display import Graph as Graph
from .display import Header as Header
from .display import Html as Html
from .display import Icon as Icon
from .display import Image as Image
from .display import KeyValue as KeyValue
from .display import Link as Link
from .display import List as List
from .display import ListItem as ListItem
from .display import Loading as Loading
from .display import Markdown as Markdown
from .display import Progress as Progress
from .display import Stat as Stat
from .display import Stats as Stats
from .display import Text as Text
from .display import Timeline as Timeline
from .display import Toast as Toast
from .display import Tree as Tree
from .display import Video as Video
from .inputs import BackButton as BackButton
from .inputs import Button as Button
from .inputs import Checkbox as Checkbox
from .inputs import DatePicker as DatePicker
from .inputs import FileUpload as FileUpload
from .inputs import Form as Form
from .inputs import Input as Input
from .inputs import Menu as Menu
from .inputs import MultiSelect as MultiSelect
from .inputs import Password as Password
from .inputs import RadioGroup as RadioGroup
from .inputs import RichEditor as RichEditor
from .inputs import Select as Select
from .inputs import Slider as Slider
from .inputs import TagInput as TagInput
from .inputs import TextArea as TextArea
from .inputs import Toggle as Toggle
from .layout import Accordion as Accordion
from .layout import Call as Call
from .layout import Card as Card
from .layout import Column as Column
from .layout import Dialog as Dialog
from .layout import Divider as Divider
from .layout import Ghost as Ghost
from .layout import Grid as Grid
from .layout import Modal as Modal
from .layout import Node as Node
from .layout import Open as Open
from .layout import Page as Page
from .layout import Row as Row
from .layout import Section as Section
from .layout import Send as Send
from .layout import SlideOver as SlideOver
from .layout import Stack as Stack
from .layout import Tabs as Tabs
from .layout import Tooltip as Tooltip
from .layout import UIAction as UIAction
from .layout import UINode as UINode

__all__ = sorted(name for name in globals() if name[0].isupper())
