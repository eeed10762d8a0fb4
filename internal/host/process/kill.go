package process

// Kill kills every agent with everything in its group, waits for nothing, and lets
// no agent be started any more. It is for a host that must end at once; any other
// one calls [Manager.Stop].
func (m *Manager) Kill() {
	m.mu.Lock()
	m.stopped = true
	m.mu.Unlock()
	for _, i := range m.Instances() {
		i.mu.Lock()
		p := i.child
		i.mu.Unlock()
		if p != nil {
			p.Kill()
		}
	}
}
