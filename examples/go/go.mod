module wallet

go 1.18
